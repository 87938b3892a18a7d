import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './project-root.mjs'

/** The folder of the icons: their paths, and the license of the package that they come from. */
export const ICONS = 'clients/admin/icons'

const file = join(ICONS, 'icons.json')
const paths = /** @type {Readonly<Record<string, readonly string[] | undefined>>} */ (
  JSON.parse(readFileSync(join(projectRoot, file), 'utf8'))
)

/**
 * Bundles the icons of react-admin from the folder. Their package has 47,000 files, more than all others together, so
 * package.json leaves it out.
 *
 * @type {import('esbuild').Plugin}
 */
export const adminIcons = {
  name: 'admin icons',
  setup(build) {
    const namespace = 'icon'
    build.onResolve({ filter: /^@mui\/icons-material\// }, ({ path }) => ({ path, namespace }))
    build.onLoad({ filter: /.*/, namespace }, ({ path }) => {
      const name = path.slice(path.lastIndexOf('/') + 1)
      const icon = paths[name]
      if (icon === undefined) return { errors: [{ text: `${file} has no ${name}: add its paths from ${path}.` }] }
      const children = icon.map((d, key) => `jsx('path', { d: ${JSON.stringify(d)} }, ${key})`)
      const contents = `import { createSvgIcon } from '@mui/material/utils'
import { jsx } from 'react/jsx-runtime'
export default createSvgIcon([${children.join(', ')}], ${JSON.stringify(name)})`
      return { contents, resolveDir: join(projectRoot, 'node_modules/react-admin') }
    })
  }
}
