/**
 * Sends a message to a child process, if one is given, and returns the child's next message. Throws when the child
 * ends instead.
 */
export function asked(child, message) {
  return new Promise((resolve, reject) => {
    const onExit = code => reject(new Error(`a process ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', answer => {
      child.off('exit', onExit)
      resolve(answer)
    })
    if (message) child.send(message)
  })
}
