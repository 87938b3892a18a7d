import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder that holds package.json. */
export const projectRoot = dirname(dirname(fileURLToPath(import.meta.url)))
