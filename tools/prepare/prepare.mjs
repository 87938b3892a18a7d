import { build } from './build.mjs'
import { installDependencies } from './dependencies.mjs'
import { checkNodeVersion } from './node-version.mjs'

/** Makes everything ready to run from whatever state the checkout is in. Costs milliseconds when it is ready. */
export async function prepare() {
  checkNodeVersion()
  await installDependencies()
  await build()
}
