import { fileURLToPath } from 'node:url'

/** The folder of the compiled code that this test run is part of. */
export const outputRoot = fileURLToPath(new URL('../../', import.meta.url))

/** The folder that holds package.json. */
export const packageRoot = fileURLToPath(new URL('../../../', import.meta.url))
