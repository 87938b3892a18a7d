import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { Logger } from '../../shared/logger.js'
import { installHint } from '../../shared/optional-package.js'

/** The scripts of `/admin` and `/docs/try`: an optional peer in package.json, of the same version (docs/decisions/073). */
export const PAGES_PACKAGE = '@uniform-rest/pages'

/** In a checkout, which does not install it, where the build puts what the package holds. */
const OF_CHECKOUT = new URL('../../../clients/pages/dist/', import.meta.url)

const require = createRequire(import.meta.url)

/** The folder of the built pages; undefined where the package is not installed. */
export function findPages(): URL | undefined {
  if (existsSync(OF_CHECKOUT)) return OF_CHECKOUT
  try {
    return new URL('dist/', pathToFileURL(require.resolve(`${PAGES_PACKAGE}/package.json`)))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** Logs how to get the pages that the settings ask for. Everything else is served. */
export function warnOfMissingPages({ adminUi, docsUi }: { adminUi: boolean; docsUi: boolean }, log: Logger): void {
  const packages = [PAGES_PACKAGE]
  // An API needs no pages, and `DOCS_UI` is true by default.
  if (adminUi)
    log.warn(`${installHint({ neededBy: 'ADMIN_UI', packages })} Until then there is no /admin and no /docs/try.`)
  else if (docsUi) log.info(installHint({ neededBy: '/docs/try', packages }))
}
