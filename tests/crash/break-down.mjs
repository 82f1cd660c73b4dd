// Loaded first into a service process: on SIGUSR2 it throws an error that nothing catches.
process.on('SIGUSR2', () => {
  throw new RangeError('thrown by a test')
})
