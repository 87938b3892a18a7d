import { type InnerPackage, remedyFor, untested, type Untested, whatIsUntested } from '../shared/inner-members.js'
import type { Logger } from '../shared/logger.js'
import type { DataServiceConfig } from './config.js'
import { GRPC } from './rpc/transport/grpc-inner.js'
import { SEQUELIZE } from './sql/engines/sequelize-inner.js'
import { engineOf } from './sql/engines.js'

/**
 * Logs one line for each dependency that is not as it was tested, and is used all the same. A database's driver is used by
 * its public functions then. Of the others the inner members are used, which are there: one that lacks them ends the start.
 */
export function warnOfUntested(
  { primary, second = primary }: DataServiceConfig['databases'],
  log: Logger,
  packages: readonly InnerPackage[] = [GRPC, SEQUELIZE]
): void {
  for (const found of packages.flatMap((one) => untested(one, []) ?? [])) {
    warn(log, found, 'Its inner members are used')
  }
  for (const engine of new Set([primary, second].map(({ url }) => engineOf(url)))) {
    const found = engine.untestedDriver()
    if (found !== undefined) warn(log, found, 'Statements go by its public functions, which is slower')
  }
}

function warn(log: Logger, found: Untested, consequence: string): void {
  log.warn(found, `${whatIsUntested(found)}. ${consequence}. ${remedyFor(found)}`)
}
