import type { Database } from '../databases/database.js'
import type { KeyVault } from '../neighbours.js'
import type { Site } from '../site.js'
import { cutFaults } from './cuts.js'
import type { Fault } from './fault.js'
import { keyVaultFaults } from './key-vault.js'
import { linkFaults } from './links.js'
import { processFaults } from './processes.js'
import { wrongAnswers } from './wrong-answers.js'

/** Everything that can break in a system, which may have no key vault. */
export function faultsOf(site: Site, database: Database, vault?: KeyVault): Fault[] {
  return [
    ...processFaults([...site.gateways, ...site.services]),
    ...linkFaults(site.links),
    ...cutFaults(site.links),
    ...wrongAnswers(site.links.filter(({ name }) => NEIGHBOURS.test(name))),
    ...(vault === undefined ? [] : keyVaultFaults(site, vault)),
    ...databaseFaults(database)
  ]
}

/** Links to what gateways need besides data services and the key vault. */
const NEIGHBOURS = /to the (?:blob store|renderer)$/

/** Of several hurts at a time the last would have to be healed first, so the database is hurt in one way at a time. */
function databaseFaults({ hurts }: Database): Fault[] {
  return Object.entries(hurts).map(([name, hurt]) => ({
    kind: `database ${name}`,
    name: `database ${name}`,
    target: 'the database',
    async inject(random) {
      const heal = await hurt(random)
      return async () => {
        await heal()
        return 1
      }
    }
  }))
}

/** What is not broken on a system, with the reason, for the verdict. */
export function leftOut(database: Database): string[] {
  return [
    ...(database.nodes.length > 0
      ? []
      : [
          'faults of the connections to the database and to the second store, and of their servers: SQLite is a file that the data service opens itself.'
        ]),
    ...('disk-full' in database.hurts ? [] : ['a full disk: to mount a small one takes root and the right to mount.'])
  ]
}
