import type { Entity } from '../entity.js'
import { bool } from '../fields/words.js'
import type { Field } from '../fields/field.js'
import { CAMEL_CASE, KEBAB_CASE } from '../fields/names.js'
import { type Operation, parameterIn } from '../define-operation.js'
import type { Procedure } from '../procedure.js'
import { type ResolvedShape, valueColumn } from '../fields/shape.js'
import { permissionMistakes } from './validate-access.js'
import { databaseNameMistakes, parameterMistakes, RESERVED, textParameterMistakes } from './validate-fields.js'

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'DELETE']
const STATUSES: readonly number[] = [200, 201, 202, 204]

/** Mistakes in the operations of an application: their names, paths, access and shapes. */
export function operationMistakes(
  operations: readonly Operation[],
  entities: readonly Entity[],
  permissions: readonly string[]
): string[] {
  const resources = entities.map(({ name }) => name)
  return operations.flatMap((operation, index) => {
    const before = operations.slice(0, index)
    const own = [
      ...operation.mistakes,
      ...operationNameMistakes(operation, before),
      ...operationPathMistakes(operation, { resources, before }),
      ...operationAccessMistakes(operation, permissions),
      ...requestMistakes(operation),
      ...operation.procedures.flatMap(procedureMistakes),
      ...(operation.answer === undefined ? [] : shapeMistakes(operation.answer, 'answer')),
      ...(STATUSES.includes(operation.status) ? [] : [`${operation.status} is no status of an answer.`])
    ]
    return [...new Set(own)].map((mistake) => `operation \`${operation.name}\`: ${mistake}`)
  })
}

function operationNameMistakes({ name, method }: Operation, before: readonly Operation[]): string[] {
  const mistakes: string[] = []
  if (!KEBAB_CASE.test(name)) mistakes.push('the name must be kebab-case such as `close-month`.')
  if (before.some((one) => one.name === name)) mistakes.push('there are two operations of this name.')
  if (!METHODS.includes(method)) mistakes.push(`\`${method}\` is none of ${METHODS.join(', ')}.`)
  return mistakes
}

function operationPathMistakes(
  { segments, method, path }: Operation,
  { resources, before }: { readonly resources: readonly string[]; readonly before: readonly Operation[] }
): string[] {
  const mistakes: string[] = []
  const [first = ''] = segments
  const written = `/${segments.join('/')}`
  if (resources.includes(first)) mistakes.push(`\`${written}\` is below the resource \`${first}\`.`)
  if (RESERVED.includes(first)) mistakes.push(`the gateway keeps \`/${first}\` for itself.`)
  for (const [index, segment] of segments.entries()) {
    const parameter = parameterIn(segment)
    const fits = parameter === undefined ? KEBAB_CASE.test(segment) : index > 0 && CAMEL_CASE.test(parameter)
    if (!fits) mistakes.push(`\`${written}\` must be kebab-case segments and, behind the first, {parameters}.`)
  }
  const named = segments.flatMap((segment) => parameterIn(segment) ?? [])
  const declared = path.map(({ name }) => name)
  for (const name of named.filter((one) => !declared.includes(one))) mistakes.push(`path lacks \`${name}\`.`)
  for (const name of declared.filter((one) => !named.includes(one)))
    mistakes.push(`\`${name}\` is no parameter of \`${written}\`.`)
  if (new Set(named).size < named.length) mistakes.push(`\`${written}\` names a parameter twice.`)
  for (const other of before.filter((one) => shapeOfPath(one) === shapeOfPath({ segments }))) {
    if (other.method === method) mistakes.push(`\`${method} ${written}\` is that of \`${other.name}\` already.`)
    else if (other.segments.join('/') !== segments.join('/'))
      mistakes.push(`\`${written}\` is the path of \`${other.name}\` with other names of parameters.`)
  }
  return mistakes
}

/** Equal for two paths that no request could tell apart. */
function shapeOfPath({ segments }: Pick<Operation, 'segments'>): string {
  return segments.map((segment) => (parameterIn(segment) === undefined ? segment : '{}')).join('/')
}

/** `access` is undefined, or another word, for an operation that bypasses its types. */
function operationAccessMistakes({ access, method }: Operation, permissions: readonly string[]): string[] {
  const said: { readonly kind: string } | undefined = access
  if (said === undefined || !['everyone', 'authenticated', 'permission'].includes(said.kind))
    return ['access must be everyone, authenticated or permission(…).']
  if (access.kind === 'permission') return permissionMistakes(access.permission, permissions)
  return access.kind === 'everyone' && method !== 'GET' ? ['a write takes a token: access cannot be everyone.'] : []
}

function requestMistakes({ path, query, body, method }: Operation): string[] {
  const mistakes = [
    ...textParameterMistakes(path).map((mistake) => `path: ${mistake}`),
    ...path
      .filter(({ field }) => field.nullable || field.defaultTo !== undefined)
      .map(({ name }) => `path: \`${name}\` is always there: it is neither optional nor has a default.`),
    ...textParameterMistakes(query).map((mistake) => `query: ${mistake}`),
    ...query
      .filter(({ field }) => field.requiredNullable)
      .map(({ name }) => `query: \`${name}\` is a text, which is never null: say optional(…) or nothing.`)
  ]
  if (body === undefined) return mistakes
  if (method === 'GET' || method === 'DELETE') mistakes.push(`a ${method} has no body.`)
  return [...mistakes, ...shapeMistakes(body, 'body')]
}

function procedureMistakes({ name, parameters, columns }: Procedure): string[] {
  return [
    ...databaseNameMistakes('procedure', name),
    ...[parameters, columns].flatMap(parameterMistakes).map((mistake) => `procedures.${name}: ${mistake}`)
  ]
}

function shapeMistakes(shape: ResolvedShape | Field, at: string): string[] {
  if (!('kind' in shape)) return []
  if (shape.kind === 'list') {
    const { min, max, item } = shape
    const isSound = Number.isInteger(min) && Number.isInteger(max) && min >= 0 && min <= max
    return [...(isSound ? [] : [`${at}: a list is of ${min} to ${max}.`]), ...shapeMistakes(item, `${at}[]`)]
  }
  const { members } = shape
  const names = members.map((member) => (member.kind === 'value' ? member.column.name : member.name))
  return [
    ...parameterMistakes(
      members.map((member) => (member.kind === 'value' ? member.column : valueColumn(member.name, bool())))
    ).map((mistake) => `${at}: ${mistake}`),
    // An answer with this member could not be told from a rejection.
    ...(at === 'answer' && names.includes('rejection') ? ['answer: `rejection` is the word of rejections.'] : []),
    ...members.flatMap((member) => (member.kind === 'value' ? [] : shapeMistakes(member.shape, `${at}.${member.name}`)))
  ]
}
