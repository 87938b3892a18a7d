import { fileURLToPath } from 'node:url'

/** The style sheet and pictures lie beside the sources, scripts beside this module once compiled. */
const ASSETS = fileURLToPath(new URL('../../../../examples/store/storefront/assets/', import.meta.url))
const SCRIPTS = fileURLToPath(new URL('./client/', import.meta.url))

const NAME = /^(?<folder>client\/)?(?<name>[a-z0-9-]+)\.(?<kind>css|svg|js)$/
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8'
}

/** The file behind `/shop-assets/{path}`; undefined for a path that cannot be one. */
export function shopAsset(path: string): { readonly file: string; readonly type: string } | undefined {
  const { folder, name, kind = '' } = NAME.exec(path)?.groups ?? {}
  const type = TYPES[kind]
  if (name === undefined || type === undefined || (kind === 'js') !== (folder !== undefined)) return undefined
  return { file: `${kind === 'js' ? SCRIPTS : ASSETS}${name}.${kind}`, type }
}
