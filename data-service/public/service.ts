/** What an application starts: the service, and commands that work on its databases. */
export type { Application } from '../application.js'
export type { SampleAccounts } from '../auth/accounts.js'
export type { Roles } from '../auth/claims.js'
export { type CommandContext, mintAccessToken, withDatabases } from '../commands.js'
export type { Database } from '../sql/engines/engine.js'
export { startDataService } from '../start.js'
