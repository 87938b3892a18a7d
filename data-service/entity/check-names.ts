import type { Entity } from './entity.js'

const KEBAB_CASE = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
/** First segments that are the gateway's own (contract.md section 8). */
const RESERVED: readonly string[] = ['auth', 'problems', 'health', 'docs']

/** Mistakes in names that all resources share: route segments and tables. */
export function namingMistakes(entities: readonly Entity[]): string[] {
  const mistakes: string[] = []
  const resources = new Set<string>()
  const tables = new Map<string, string>()
  const claim = (store: string, table: string, owner: string): void => {
    const key = `${store}/${table.toLowerCase()}`
    const holder = tables.get(key)
    if (holder !== undefined) mistakes.push(`${owner}: table \`${table}\` is that of ${holder} already.`)
    else tables.set(key, owner)
  }
  for (const { name, table, children } of entities) {
    if (!KEBAB_CASE.test(name)) mistakes.push(`${name}: the name must be kebab-case such as \`stock-items\`.`)
    if (RESERVED.includes(name)) mistakes.push(`${name}: the gateway keeps this path for itself.`)
    if (resources.has(name)) mistakes.push(`${name}: there are two resources of this name.`)
    resources.add(name)
    claim('primary', table, name)
    for (const child of children) claim(child.store, child.table, `${name}.${child.name}`)
  }
  return mistakes
}
