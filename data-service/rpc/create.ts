import type { CreateRequest__Output } from '../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse } from '../../shared/gen/entity/v1/CreateResponse.js'
import type { Column } from '../entity/entity.js'
import type { Preparation } from '../entity/creation.js'
import type { Value } from '../entity/value.js'
import { assignments, namedValues } from '../plan/assignments.js'
import { parseCreate } from '../plan/parse-create.js'
import type { ParsedCreate } from '../plan/parse-write.js'
import { claimedOwner } from '../plan/write-access.js'
import type { CallContext } from './call-context.js'
import { keyedWrite } from './keyed-write.js'
import { refused } from './refused.js'
import type { WriteSteps } from './write-steps.js'
import type { Writing } from './writing.js'

export async function create(
  writing: Writing,
  context: CallContext,
  request: CreateRequest__Output
): Promise<CreateResponse> {
  const { planning, idempotency } = writing
  const parsed = parseCreate(request, { planning, caller: context.caller }, idempotency.required)
  const { resource, ignored } = parsed
  const answer = await keyedWrite({ writing, context }, parsed, {
    method: 'POST',
    path: `/${resource.entity.name}`,
    work: async (steps) => {
      const id = await insert(parsed, steps)
      const location = `${request.linkBase}/${resource.entity.name}/${encodeURIComponent(String(id))}`
      return { ...(await steps.answer(resource, id, ignored)), location }
    }
  })
  const { json, rowVersion, id, replayed, location } = answer
  return { record: { json, rowVersion }, id, ignoredMembers: [...answer.ignored], replayed, location }
}

async function insert(parsed: ParsedCreate, steps: WriteSteps): Promise<string | number | boolean> {
  const { entity } = parsed.resource
  const values = ownedValues(parsed)
  const prepared = await prepare(parsed, values, steps)
  const children = entity.children.flatMap((one) => {
    const made = prepared.children?.[one.name]?.map((row) => assignments(row, one.columns))
    const rows = made ?? parsed.children.find(({ children }) => children === one)?.rows ?? []
    return rows.length === 0 ? [] : [{ children: one, rows }]
  })
  const all = new Map([...values, ...assignments(prepared.values ?? {}, entity.columns)])
  const id = await steps.insert(entity, { values: all, children })
  await steps.insertNamed(prepared.create ?? [])
  return id
}

/** With the owner that the caller's claim gives the row. */
function ownedValues({ values, claimed, writer }: ParsedCreate): ReadonlyMap<Column, Value> {
  if (claimed === undefined) return values
  return new Map([...values, [claimed, claimedOwner(claimed, writer.caller, values.get(claimed))]])
}

async function prepare(
  { resource, children }: ParsedCreate,
  values: ReadonlyMap<Column, Value>,
  steps: WriteSteps
): Promise<Preparation> {
  const { creation, children: collections } = resource.entity
  if (creation.prepare === undefined) return {}
  const rowsOf = (name: string) => children.find((one) => one.children.name === name)?.rows ?? []
  const prepared = await creation.prepare({
    ...steps.tools,
    input: namedValues(values),
    children: Object.fromEntries(collections.map(({ name }) => [name, rowsOf(name).map((row) => namedValues(row))]))
  })
  if ('refusal' in prepared) throw refused(prepared)
  return prepared
}
