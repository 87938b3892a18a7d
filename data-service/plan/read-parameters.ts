import type { ErrorCode } from '../../shared/errors.js'
import type { Field, Operand } from '../entity/field.js'
import { suggestion } from '../entity/names.js'
import type { Resource } from './catalogue.js'
import type { ShapedProperty, SortKey } from './plans.js'
import { propertyName } from './projection.js'
import { expected, parseValue } from './values.js'
import { type Violations, quoted } from './violations.js'

export interface PagingTexts {
  readonly pageNumber?: string
  readonly pageSize?: string
  readonly includeTotal?: string
}

export interface Paging {
  /** As asked; one of more than five thousand digits is the largest that has as many. */
  readonly pageNumber: bigint
  /** As clamped. */
  readonly pageSize: number
  /** Rows before the page; at most 2^53-1, which is past every end. */
  readonly offset: number
  readonly withTotal: boolean
}

const DEFAULT_PAGE_SIZE = 10n
/** Arithmetic on more digits takes more than linear time, and the answer's headers could not hold them. */
const MOST_DIGITS = 5000
const FURTHEST = BigInt(Number.MAX_SAFE_INTEGER)

export function parsePaging(texts: PagingTexts, maxPageSize: number, violations: Violations): Paging {
  const pageNumber = parsePositive(texts.pageNumber, { parameter: 'pageNumber', fallback: 1n }, violations)
  const asked = parsePositive(texts.pageSize, { parameter: 'pageSize', fallback: DEFAULT_PAGE_SIZE }, violations)
  const pageSize = smaller(asked, BigInt(maxPageSize))
  return {
    pageNumber,
    pageSize: Number(pageSize),
    offset: Number(smaller((pageNumber - 1n) * pageSize, FURTHEST)),
    withTotal: parseFlag(
      texts.includeTotal,
      { parameter: 'includeTotal', code: 'paging.invalid', fallback: true },
      violations
    )
  }
}

function parsePositive(
  text: string | undefined,
  { parameter, fallback }: { readonly parameter: string; readonly fallback: bigint },
  violations: Violations
): bigint {
  if (text === undefined) return fallback
  const digits = /^\d+$/.test(text) ? text.replace(/^0+/, '') : ''
  const value = BigInt(digits.length > MOST_DIGITS ? '9'.repeat(MOST_DIGITS) : digits)
  if (value > 0n) return value
  violations.add(
    'paging.invalid',
    parameter,
    `${parameter} takes one whole number from 1, in digits, not ${quoted(text)}.`
  )
  return fallback
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

export interface SortTexts {
  readonly sortColumn?: string
  readonly sortDirection?: string
}

const DESCENDING: ReadonlyMap<string, boolean> = new Map([
  ['asc', false],
  ['ascending', false],
  ['desc', true],
  ['descending', true]
])

/** A total order: the id, ascending, comes last wherever it is not the sort column itself. */
export function parseSort(texts: SortTexts | null, resource: Resource, violations: Violations): readonly SortKey[] {
  const id = { through: null, column: resource.id }
  const path = texts?.sortColumn === undefined ? id : resource.sortable.get(texts.sortColumn.toLowerCase())
  const descending = DESCENDING.get((texts?.sortDirection ?? 'asc').toLowerCase())
  if (path === undefined) {
    const near = suggestion(texts?.sortColumn ?? '', sortableNames(resource))
    const detail = `${quoted(texts?.sortColumn ?? '')} is not a property that can be sorted by.${near}`
    violations.add('sort.property.unknown', 'sortColumn', detail)
  }
  if (descending === undefined) {
    const detail = `sortDirection takes asc, desc, ascending or descending, not ${quoted(texts?.sortDirection ?? '')}.`
    violations.add('sort.direction.invalid', 'sortDirection', detail)
  }
  const first: SortKey = { path: path ?? id, descending: descending ?? false }
  const isId = first.path.through === null && first.path.column === resource.id
  return isId ? [first] : [first, { path: id, descending: false }]
}

function sortableNames(resource: Resource): string[] {
  return [...resource.properties.values()].map(propertyName).filter((name) => resource.sortable.has(name.toLowerCase()))
}

/** Which parts of a row were asked for, as texts of the request. */
export interface ShapeTexts {
  readonly fields?: string
  readonly includeFks?: string
  readonly includeChildren?: string
}

/** The texts understood; undefined `named` is every property. */
export interface ParsedShape {
  readonly flags: { readonly references: boolean; readonly children: boolean }
  readonly named: readonly ShapedProperty[] | undefined
}

const MAX_FIELDS = 200

export function parseShape(texts: ShapeTexts | null, resource: Resource, violations: Violations): ParsedShape {
  const include = { code: 'include.invalid', fallback: false } as const
  const flags = {
    references: parseFlag(texts?.includeFks, { ...include, parameter: 'includeFKs' }, violations),
    children: parseFlag(texts?.includeChildren, { ...include, parameter: 'includeChildren' }, violations)
  }
  return {
    flags,
    named: parseFields(texts?.fields, resource, { violations, refuse: (property) => unfitFor(property, flags) })
  }
}

/** undefined for all of them. `refuse` says what is wrong with a property that exists, if anything. */
export function parseFields(
  text: string | undefined,
  resource: Resource,
  how: { readonly violations: Violations; readonly refuse: (property: ShapedProperty) => string | undefined }
): readonly ShapedProperty[] | undefined {
  if (text === undefined) return undefined
  const named = new Map<string, string>()
  for (const part of text.split(',')) {
    const name = part.trim()
    if (name !== '' && !named.has(name.toLowerCase())) named.set(name.toLowerCase(), name)
  }
  if (named.size === 0) return undefined
  if (named.size > MAX_FIELDS) {
    how.violations.add('fields.invalid', 'fields', `fields takes at most ${MAX_FIELDS} names, not ${named.size}.`)
    return undefined
  }
  const asked: ShapedProperty[] = []
  for (const [key, name] of named) {
    const property = resource.properties.get(key)
    const violation =
      property === undefined
        ? `${quoted(name)} is not a field.${suggestion(name, selectableNames(resource))}`
        : how.refuse(property)
    if (violation !== undefined) how.violations.add('fields.invalid', 'fields', violation)
    else if (property !== undefined) asked.push(property)
  }
  return asked
}

function unfitFor(
  property: ShapedProperty,
  flags: { readonly references: boolean; readonly children: boolean }
): string | undefined {
  const name = propertyName(property)
  switch (property.kind) {
    case 'column':
    case 'rowVersion':
      return undefined
    case 'computed':
    case 'joined':
      return `"${name}" is read-only and has no column of its own: leave fields out to get it.`
    case 'reference':
      return flags.references ? undefined : `"${name}" needs includeFKs=true.`
    case 'children':
      return flags.children ? undefined : `"${name}" needs includeChildren=true.`
  }
}

function selectableNames(resource: Resource): string[] {
  return [...resource.properties.values()]
    .filter(({ kind }) => kind === 'column' || kind === 'rowVersion')
    .map(propertyName)
}

/** `true` or `false` and nothing else; absent is `fallback`. */
export function parseFlag(
  text: string | undefined,
  what: { readonly parameter: string; readonly code: ErrorCode; readonly fallback: boolean },
  violations: Violations
): boolean {
  if (text === undefined) return what.fallback
  if (text === 'true') return true
  if (text !== 'false')
    violations.add(what.code, what.parameter, `${what.parameter} takes true or false, not ${quoted(text)}.`)
  return text === 'false' ? false : what.fallback
}

/** No id of any type needs more; leading zeros included. */
const MAX_ID_CHARACTERS = 100

/** The id of a path; one that is none goes on the list. */
export function parseId(text: string, field: Field, violations: Violations): Operand {
  const wellFormed = text.length <= MAX_ID_CHARACTERS && !text.startsWith('+')
  const id = wellFormed ? parseValue(text, field) : undefined
  if (id !== undefined) return id
  violations.add('id.invalid', 'id', `${quoted(text)} is no id here: it must be ${expected(field)}.`)
  return ''
}
