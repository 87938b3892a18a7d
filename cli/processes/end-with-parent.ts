// Preloaded (`node --import`) into the processes that our commands start over an IPC channel: when the parent is gone,
// killed without a chance to tell, the channel closes and the process asks itself to stop.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The channel alone must not keep a process alive that has nothing left to do.
process.channel?.unref()
