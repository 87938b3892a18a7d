import { rejection, type Violation } from '../../shared/errors.js'
import { MAX_BATCH } from '../../shared/request-limits.js'
import { decodeBase64 } from '../../shared/transport/wire.js'
import { asRowVersion, type RowVersion } from '../entity/fields/row-version.js'
import { isArray, isObject, type JsonMembers, jsonText, type JsonValue } from '../entity/fields/json-values.js'
import { idText, isComposite, type RowKey } from '../entity/key.js'
import { BATCHES } from '../entity/operations.js'
import { parseMember } from '../entity/types/types.js'
import { checkItemOwners, requireBatch } from './authorize.js'
import type { KeyedResource } from './model/catalogue.js'
import type { ExpectedVersions } from './model/plans.js'
import { isMerged, readMembers } from './parsing/body.js'
import { parseJson } from './parsing/json-body.js'
import { NO_KEY, parseIdMember } from './parsing/keys.js'
import type { BodyFindings } from './parsing/violations.js'
import type { PlanningContext } from './planning.js'
import {
  authorizeOperation,
  type BodyParams,
  parseBody,
  type ParsedUpdate,
  type ParsedWrite,
  patchOf
} from './write-requests.js'

// Batches of changes. Each item names its row and the version that the row was read with, because a header could name one
// row only. The items are no update requests: those never hold a version (source.md, guarded writes).

/** A row that a batch changes or deletes. */
type ParsedItem = Pick<ParsedUpdate, 'rowKey' | 'expected'>

/** A change, as the update of a single row. */
type ParsedChange = ParsedItem & Pick<ParsedUpdate, 'values' | 'merged'>

export type ParsedItems<Item extends ParsedItem> = Omit<ParsedWrite, 'values'> & { readonly items: readonly Item[] }

interface BatchOptions {
  readonly keyRequired: boolean
  /** Called with the number of rows before they are read. May throw. */
  readonly checkSize: (rows: number) => void
}

/** `PATCH /{resource}/batch`. Throws `precondition.required` for items without a version, before anything else is judged. */
export function parseUpdateBatch(
  params: BodyParams,
  context: PlanningContext,
  options: BatchOptions
): ParsedItems<ParsedChange> {
  return parseItems('updateBatch', { params, options, read: readChange }, context)
}

/** `POST /{resource}/batch/delete`. */
export function parseDeleteBatch(
  params: BodyParams,
  context: PlanningContext,
  options: BatchOptions
): ParsedItems<ParsedItem> {
  return parseItems('deleteBatch', { params, options, read: readDeleted }, context)
}

interface ItemPlace {
  readonly resource: KeyedResource
  readonly rowKey: RowKey
  /** JSON pointer of the item. */
  readonly at: string
  readonly findings: BodyFindings
}

function readChange(
  json: JsonValue,
  { resource, rowKey, at, findings }: ItemPlace
): Omit<ParsedChange, keyof ParsedItem> {
  const columns = resource.settable.update
  const { entity } = resource
  const others = [...ITEM_MEMBERS, ...entity.key.map(({ name }) => name)]
  const values = readMembers(json, { columns, at, absent: 'kept', others }, findings)
  if (isObject(json) && isComposite(entity) && rowKey !== NO_KEY)
    checkKeyParts(json, { resource, rowKey, at, findings })
  const merged = isObject(json) ? columns.filter((column) => isMerged(json, column)) : []
  return { values, merged: new Map(merged.map((column) => [column, patchOf(json, column)])) }
}

function readDeleted(json: JsonValue, { at, findings }: ItemPlace): object {
  readMembers(json, { columns: [], at, absent: 'kept', others: ITEM_MEMBERS }, findings)
  return {}
}

const ITEM_MEMBERS = ['id', 'rowVersion']

/** An item may name the columns of its key, with no other values. */
function checkKeyParts(json: JsonMembers, { resource: { entity }, rowKey, at, findings }: ItemPlace): void {
  for (const [index, { name, field }] of entity.key.entries()) {
    const member = Object.hasOwn(json, name) ? json[name] : undefined
    if (member === undefined || member === rowKey[index] || parseMember(member, field) === rowKey[index]) continue
    findings.violations.addAt(`${at}/${name}`, `${name} differs from the id of the item.`, { code: 'id.mismatch' })
  }
}

function parseItems<Item extends object>(
  batch: 'updateBatch' | 'deleteBatch',
  of: {
    readonly params: BodyParams
    readonly options: BatchOptions
    readonly read: (json: JsonValue, place: ItemPlace) => Item
  },
  context: PlanningContext
): ParsedItems<ParsedItem & Item> {
  const { params, options, read } = of
  const route = BATCHES[batch]
  const { resource, writer } = authorizeOperation(route, { ...params, isBatch: true }, context)
  requireBatch(resource, batch)
  const body = parseJson(params.body)
  const isBatch = isArray(body) && body.length >= 1 && body.length <= MAX_BATCH
  const sent = isBatch ? body : []
  checkItemOwners({ resource, route, ids: sent.map(sentId) }, writer)
  requireVersions(sent)
  return parseBody(params, { resource, writer, body, keyRequired: options.keyRequired }, (findings) => {
    const { violations } = findings
    if (!isBatch) violations.addAt('', `The body must be a JSON array of 1 to ${MAX_BATCH} rows.`)
    options.checkSize(sent.length)
    const places = new Map<string, number>()
    const items = sent.map((json, index) => {
      const at = `/${index}`
      const rowKey = isObject(json) ? parseIdMember(memberOf(json, 'id'), resource.entity, { at, violations }) : NO_KEY
      if (rowKey !== NO_KEY) {
        const id = idText(rowKey)
        const first = places.get(id)
        if (first === undefined) places.set(id, index)
        else violations.addAt(`${at}/id`, `id is that of /${first} too: a row may be in a batch once.`)
      }
      const expected = readVersion(json, at, findings)
      return { rowKey, expected, ...read(json, { resource, rowKey, at, findings }) }
    })
    return { items }
  })
}

/** The id of an item as it was sent; empty for none. */
function sentId(json: JsonValue): string {
  const id = isObject(json) ? memberOf(json, 'id') : undefined
  return typeof id === 'string' ? id : id === undefined ? '' : jsonText(id)
}

/** Throws `precondition.required`, which names all items without a version. */
function requireVersions(items: readonly JsonValue[]): void {
  const missing = items.flatMap((json, index): Violation[] => {
    const version = isObject(json) ? memberOf(json, 'rowVersion') : undefined
    if (!isObject(json) || (version !== undefined && version !== null && version !== '')) return []
    const detail = `/${index} needs the rowVersion that the row was last read with.`
    return [{ code: 'precondition.required', detail, place: { in: 'pointer', name: `/${index}/rowVersion` } }]
  })
  const [first, ...others] = missing
  if (first !== undefined) throw rejection([first, ...others])
}

/** Matches no row. */
const NO_VERSION = Buffer.alloc(0) as RowVersion

function readVersion(json: JsonValue, at: string, { violations }: BodyFindings): ExpectedVersions {
  const member = isObject(json) ? memberOf(json, 'rowVersion') : undefined
  const bytes = typeof member === 'string' ? decodeBase64(member) : undefined
  const version = bytes && asRowVersion(bytes)
  if (version !== undefined) return [version]
  if (isObject(json)) {
    violations.addAt(`${at}/rowVersion`, 'rowVersion must be the one that the row was last read with, in base64.')
  }
  // A violation ends the parsing before anything uses it.
  return [NO_VERSION]
}

function memberOf(json: JsonMembers, name: string): JsonValue | undefined {
  return Object.hasOwn(json, name) ? json[name] : undefined
}
