import { startPrivateServer } from '../database-server.js'

// runner.test.ts starts it as a process, reads where the server is, and kills it.
const { url } = await startPrivateServer()
process.stdout.write(`${url}\n`)
