import { startPrivateServer } from '../database-server.js'

// runner.test.ts starts it as a process and kills it.
await startPrivateServer()
process.stdout.write('the server accepts clients\n')
