#!/usr/bin/env node
import { explanation, run } from './commands.js'

const { env: environment, stdout, stderr } = process

// A reader that wants no more, such as `head`, ends the command and is no failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

try {
  process.exitCode = await run(process.argv.slice(2), {
    environment,
    directory: process.cwd(),
    stdin: () => process.stdin,
    stdout,
    stderr
  })
} catch (error) {
  stderr.write(`${explanation(error)}\n`)
  // What is still open does not keep the command alive.
  process.exit(1)
}
