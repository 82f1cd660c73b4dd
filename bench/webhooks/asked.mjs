/** Sends a message to a child process, if there is one, and gives its next message; throws when it ends instead. */
export const asked = (child, message) =>
  new Promise((resolve, reject) => {
    const onExit = code => reject(new Error(`a process ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', answer => {
      child.off('exit', onExit)
      resolve(answer)
    })
    if (message) child.send(message)
  })
