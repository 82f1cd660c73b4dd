// Loaded first into a service that runs as a process of its own: on SIGUSR2 an error is thrown that nobody catches.
process.on('SIGUSR2', () => {
  throw new RangeError('thrown by a test')
})
