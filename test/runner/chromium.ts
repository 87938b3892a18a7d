import { Failure } from './failure.js'
import { findProgram } from './find-program.js'
import { installPackage } from './install-package.js'

const NEED =
  'The browser tests need Chromium, and are never skipped: install the package chromium, or set TEST_CHROMIUM to the ' +
  'path of a Chromium.'

/** The path of a Chromium: TEST_CHROMIUM, else the one that is installed. Throws where there is none. */
export function chromiumPath(): string {
  const path = findChromium()
  if (path === undefined) throw new Failure(NEED)
  return path
}

/** Installs Debian's Chromium where it is missing and may be installed. Throws where there is none after that. */
export async function ensureChromium(): Promise<void> {
  if (findChromium() === undefined) await installPackage('chromium')
  chromiumPath()
}

function findChromium(): string | undefined {
  return process.env['TEST_CHROMIUM'] || findProgram('chromium') || findProgram('chromium-browser')
}
