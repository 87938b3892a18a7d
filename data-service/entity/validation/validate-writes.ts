import { MAX_CHILDREN } from '../../../shared/request-limits.js'
import { KEBAB_CASE, LONGEST_NAME, type Permission, suggestion } from '../fields/names.js'
import { ownersIn, type ReadAccess } from '../access.js'
import type { Action, GuardedChild, GuessBound } from '../action.js'
import { type Children, type Column, type Entity, type KeyColumns, tellingColumns } from '../entity.js'
import type { Field, Value } from '../fields/field.js'
import { isComposite, isKeyed, type Keyed, keyMaker } from '../key.js'
import { READ_SEGMENTS, WRITE_OPERATIONS, type WriteOperation } from '../operations.js'
import { permissionMistakes, readMistakes } from './validate-access.js'
import { hasRowVersion } from '../fields/row-version.js'
import { columnMistakes, nameMistakes } from './validate-fields.js'

/** Mistakes in writes: operations, write access, creation, states of deletes. */
export function writeMistakes(entity: Entity, permissions: readonly string[]): string[] {
  return [
    ...writeOperationMistakes(entity),
    ...contentVersionMistakes(entity),
    ...writeAccessMistakes(entity, permissions),
    ...creationMistakes(entity),
    ...stateMistakes(entity.deletion, entity).map((mistake) => `deletes: ${mistake}`)
  ]
}

function writeOperationMistakes(entity: Entity): string[] {
  const { writes, creation, deletion, updateRule, actions } = entity
  const known: readonly string[] = WRITE_OPERATIONS
  const mistakes = [...writes].filter((one) => !known.includes(one)).map((one) => `\`${one}\` is no write.`)
  const needs = (operation: WriteOperation, used: boolean, what: string): void => {
    if (used && !writes.has(operation)) mistakes.push(`${what} without \`${operation}\` among writes.`)
  }
  needs('create', creation.prepare !== undefined || creation.children.length > 0, 'creates')
  needs('delete', deletion.rule !== undefined || deletion.required.length > 0, 'deletes')
  needs('update', updateRule !== undefined, 'updates')
  if (!hasRowVersion(entity)) {
    const guarded = [...(writes.has('update') ? ['update'] : []), ...actions.keys()]
    mistakes.push(...guarded.map((name) => `\`${name}\` is a guarded write, which needs rows with a row version.`))
  }
  return mistakes
}

/**
 * What a version of the content cannot cover, or would tell: the rows of children have columns of their own, and a caller
 * who sets a value and cannot read it would learn from an unchanged version that it was the stored one.
 */
function contentVersionMistakes({ contentVersion, children, columns, key }: Entity): string[] {
  if (!contentVersion) return []
  const isKeyChosen = Array.from<Column>(key).some(isSetByCreate)
  const rule = "rowVersion: 'content'"
  return [
    ...children
      .filter(({ resource, rootWrites }) => resource === undefined || rootWrites === 'all')
      .map(
        ({ name }) =>
          `${rule} does not cover the rows of \`${name}\`: make them a resource of their own, or give the table a version column.`
      ),
    ...columns
      .filter(({ field: { hidden, writability } }) => hidden && writability === 'always')
      .map(
        ({ name }) =>
          `${rule} would tell who sets \`${name}\` whether it had that value: leave the write-only field out, make it onCreate, ` +
          'or give the table a version column.'
      ),
    // A row that is deleted and made again under its key would have its former version where the value is the former one.
    ...columns
      .filter(({ field: { hidden, writability } }) => hidden && writability === 'onCreate' && isKeyChosen)
      .map(
        ({ name }) =>
          `${rule} would tell who makes a row again under its key whether \`${name}\` had that value: let the key be made by ` +
          'the service or the database, leave the write-only field out, or give the table a version column.'
      )
  ]
}

function writeAccessMistakes(entity: Entity, permissions: readonly string[]): string[] {
  const { columns, writes, actions, writeAccess } = entity
  const routes: readonly string[] = [...writes, ...actions.keys()]
  const words = 'permission(…), ownRows(…) or rows(…)'
  const mistakes = routes.every((one) => writeAccess.has(one)) ? [] : [`access says nothing of its writes: ${words}.`]
  for (const [route, access] of writeAccess) {
    if (!routes.includes(route))
      mistakes.push(`access.writes names \`${route}\`, which is no write.${suggestion(route, routes)}`)
    if (admitsAnonymous(access)) mistakes.push(`access.write is for callers with a token: ${words}, and no everyone.`)
    mistakes.push(...readMistakes(entity, access, permissions))
  }
  const ownersOf = (route: string): Column[] => {
    const access = writeAccess.get(route)
    const names = access === undefined ? [] : ownersIn(access)
    return columns.filter(({ name }) => names.includes(name))
  }
  // Of several words one may let the caller give the row away; the scope of the row after the write is checked then.
  const given = writeAccess.get('update')?.kind === 'ownRows' && writes.has('update') ? ownersOf('update') : []
  const named = writes.has('create') ? ownersOf('create') : []
  return [
    ...mistakes,
    ...given
      .filter(({ field }) => field.writability === 'always')
      .map(({ name }) => `owner \`${name}\` must be onCreate: a PUT would give the row away.`),
    ...named
      .filter((owner) => !isSetByCreate(owner))
      .map(({ name }) => `owner \`${name}\` must be onCreate: a bypass caller has to name one.`)
  ]
}

/** Whether callers without a token could pass, in an entity file that bypasses its types. */
function admitsAnonymous(access: ReadAccess): boolean {
  if (access.kind === 'anyOf' || access.kind === 'allOf') return access.parts.some(admitsAnonymous)
  return access.kind === 'everyone' || (access.kind === 'rows' && access.anonymous)
}

/**
 * Entities whose write access is a permission while their reads by id have a row scope, and what that means: one sentence
 * for those with `writesUnseen` and one for the others.
 */
export function permissionsBesideRowScopes(entities: readonly Entity[]): string[] {
  const found = entities.filter(
    ({ access, ownerFilter, writeAccess }) =>
      [...writeAccess.values()].some(isPermission) && (isOfRows(access.get) || ownerFilter?.routes.has('get') === true)
  )
  const named = (writesUnseen: boolean): string =>
    found
      .filter((one) => one.writesUnseen === writesUnseen)
      .map(({ name }) => name)
      .join(', ')
  const [seen, unseen] = [named(false), named(true)]
  return [
    ...(seen === ''
      ? []
      : [
          `${seen}: holders of the permission to write can write only the rows that they can read by id. ` +
            'If they are to write others too, say writesUnseen: true in `access`'
        ]),
    ...(unseen === ''
      ? []
      : [
          `${unseen}: holders of the permission to write can write rows that they cannot read by id. ` +
            'If they are not to, take writesUnseen out of `access`'
        ])
  ]
}

function isPermission(access: ReadAccess): boolean {
  return access.kind === 'permission' || (access.kind === 'anyOf' && access.parts.some(isPermission))
}

function isOfRows(access: ReadAccess | undefined): boolean {
  if (access?.kind === 'anyOf' || access?.kind === 'allOf') return access.parts.some(isOfRows)
  return access?.kind === 'ownRows' || access?.kind === 'rows'
}

function creationMistakes(entity: Entity): string[] {
  const { creation, writes } = entity
  if (!writes.has('create') || !isKeyed(entity)) return []
  const mistakes = creation.prepare === undefined ? [...unfilled(entity, ''), ...unmadeKey(entity)] : []
  for (const { children, min } of creation.children) {
    if (children.store !== 'primary') mistakes.push(`\`${children.name}\` is in another store and no part of a write.`)
    if (!hasRowVersion(children)) {
      mistakes.push(`\`${children.name}\` has no row version and is no part of a write.`)
    } else if (children.rootWrites === 'none' && children.resource !== undefined) {
      mistakes.push(
        `\`${children.name}\` would be created without the hooks or the own \`create\` of \`${children.resource}\`.`
      )
    }
    if (!Number.isInteger(min) || min < 0 || min > MAX_CHILDREN) {
      mistakes.push(`\`${children.name}\` needs min from 0 to ${MAX_CHILDREN}, not ${min}.`)
    }
    if (creation.prepare === undefined) mistakes.push(...unfilled(children, `${children.name}.`))
  }
  mistakes.push(...guessMistakes(creation.guesses, entity.columns.filter(isSetByCreate)))
  return mistakes
}

/** Whether the body of a create may set the column. */
function isSetByCreate({ field: { writability } }: Pick<Column, 'field'>): boolean {
  return writability === 'always' || writability === 'onCreate'
}

/** An `id` that neither the request, the service nor the database makes. */
function unmadeKey(keyed: Keyed): string[] {
  const [id] = keyed.key
  if (isComposite(keyed) || keyMaker(id, keyed) !== 'rule') return []
  return [
    `\`id\` is ${id.field.type}, which nobody makes: say onCreate(…) for one that requests name, or set it in creates.prepare.`
  ]
}

/** Columns that neither a request nor the service would give a value. A root gives its children those of its key. */
function unfilled(
  rows: Keyed & { readonly columns: readonly Column[]; readonly foreignKey?: KeyColumns },
  prefix: string
): string[] {
  const isMade = (column: Column): boolean =>
    rows.key.includes(column) && (rows.key.length === 1 || keyMaker(column, rows) === 'service')
  const isOfRoot = ({ column }: Column): boolean => rows.foreignKey?.some((one) => one.column === column) === true
  return rows.columns
    .filter((column) => !isMade(column) && !isOfRoot(column) && column.field.writability === 'never')
    .filter(({ field }) => !field.nullable && field.defaultTo === undefined && !field.filledByDatabase && !field.preset)
    .map(({ name }) => `\`${prefix}${name}\` is set by no request and may not be null: creates.prepare has to set it.`)
}

/** An action's permission that no role has. */
function neededPermission(permission: Permission | undefined, permissions: readonly string[]): string[] {
  return permission === undefined ? [] : permissionMistakes(permission, permissions)
}

/** Mistakes in actions: names, states, inputs, child preconditions. */
export function actionMistakes(entity: Entity, permissions: readonly string[]): string[] {
  return [...entity.actions.values()].flatMap((action) =>
    [
      ...ownNameMistakes(action),
      ...neededPermission(action.permission, permissions),
      ...stateMistakes(action, entity),
      ...stateMistakes({ required: action.becomes }, entity),
      ...inputMistakes(action),
      ...guessMistakes(action.guesses, action.input),
      ...effectMistakes(action),
      ...action.loads.flatMap(storeMistakes),
      ...(action.guardedChild === undefined ? [] : childMistakes(action, action.guardedChild))
    ].map((mistake) => `action \`${action.name}\`: ${mistake}`)
  )
}

function ownNameMistakes({ name }: Action): string[] {
  if (READ_SEGMENTS.includes(name)) return ['the name is that of a read.']
  if (name.length > LONGEST_NAME) return [`the name has more than ${LONGEST_NAME} characters.`]
  return KEBAB_CASE.test(name) ? [] : ['the name must be kebab-case such as `change-price`.']
}

function stateMistakes({ required }: Pick<Action, 'required'>, { columns }: Pick<Entity, 'columns'>): string[] {
  return required.flatMap(({ column, anyOf }) => {
    const { name, field } = column
    // A name that is no field is a mistake already.
    if (!columns.includes(column)) return []
    if (field.hidden) return [`\`${name}\` is in no answer, and a rejection would tell of it.`]
    if (field.readableBy !== undefined)
      return [`\`${name}\` takes a permission to read, and a rejection would tell of it.`]
    if (anyOf.length === 0) return [`\`${name}\` is required to be none of anything.`]
    const type = field.type === 'bool' ? 'boolean' : field.type === 'int' ? 'number' : 'string'
    const odd = anyOf.find((one) => typeof one !== type || (field.type === 'enum' && !isWordOf(field, one)))
    return odd === undefined ? [] : [neverMistake(column, odd)]
  })
}

function isWordOf({ words }: Field, value: Value): boolean {
  return words.some((word) => word === value)
}

/** Says that a column never holds a value, and of an enum what it holds in its place. */
function neverMistake({ name, field: { type, words } }: Column, odd: Value): string {
  const said = `\`${name}\` is ${type} and never ${JSON.stringify(odd)}.`
  if (type !== 'enum') return said
  const shown = words.slice(0, MOST_WORDS_SHOWN).map((word) => JSON.stringify(word))
  const more = words.length > shown.length ? `, and ${words.length - shown.length} more` : ''
  return `${said}${suggestion(String(odd), words)} It holds ${shown.join(', ')}${more}.`
}

const MOST_WORDS_SHOWN = 12

/** Mistakes in the bound of guesses of an action or of creates, whose bodies have these members. */
function guessMistakes(guesses: GuessBound | undefined, members: readonly Column[]): string[] {
  if (guesses === undefined) return []
  const { of, most, minutes } = guesses
  const isWithin = (value: number, limit: number): boolean => Number.isInteger(value) && value >= 1 && value <= limit
  return [
    ...(members.some(({ name }) => name === of) ? [] : [`guesses: \`${of}\` is no member of the body.`]),
    ...(isWithin(most, 100) ? [] : ['guesses: `most` must be 1 to 100.']),
    ...(isWithin(minutes, 1440) ? [] : ['guesses: `minutes` must be 1 to 1440.'])
  ]
}

function inputMistakes({ input }: Action): string[] {
  const mistakes = [...nameMistakes(input.map(({ name }) => name)), ...columnMistakes(input)]
  for (const { name, field } of input) {
    // source.md: no update request carries a concurrency token.
    if (/rowversion$/i.test(name)) mistakes.push(`\`${name}\` would be a concurrency token; say \`child\` for one.`)
    if (field.hidden || !isSetByCreate({ field })) mistakes.push(`\`${name}\` is a member that no request could send.`)
    if (field.filledByDatabase) mistakes.push(`\`${name}\` is an input, which has no default in the database.`)
    if (field.writableBy !== undefined) mistakes.push(`\`${name}\` is an input, which takes no permission to write.`)
    if (field.preset !== undefined) mistakes.push(`\`${name}\` is an input, which takes no preset(…).`)
    if (field.readableBy !== undefined) mistakes.push(`\`${name}\` is an input, which takes no permission to read.`)
  }
  return mistakes
}

function effectMistakes({ change, loads, guardedChild, sets }: Action): string[] {
  const mistakes = sets
    .filter(({ column: { field }, value }) => field.type === 'enum' && value !== null && !isWordOf(field, value))
    .map(({ column, value }) => `effect: ${neverMistake(column, value)}`)
  if (change !== undefined || (loads.length === 0 && guardedChild === undefined)) return mistakes
  return [...mistakes, '`loads` and `child` are for a `change`; an `effect` looks at no row.']
}

function storeMistakes({ name, store, resource, rootWrites }: Children): string[] {
  if (store !== 'primary') return [`\`${name}\` is in another store and cannot be put under lock.`]
  if (resource === undefined || rootWrites === 'all') return []
  return [
    `\`${name}\` are written as \`${resource}\` and are not under the lock of their root: say writtenBy: 'root', or ` +
      'findReferencing in the rule.'
  ]
}

function childMistakes({ input }: Action, { children, idMember, versionMember }: GuardedChild): string[] {
  const mistakes = [
    ...storeMistakes(children),
    ...tellingColumns(children)
      .filter(({ field }) => field.readableBy !== undefined)
      .map(
        ({ name }) =>
          `child: \`${name}\` of \`${children.name}\` takes a permission to read, and an answer would tell of it.`
      )
  ]
  const id = input.find(({ name }) => name === idMember)
  const [key] = children.columns
  const names = input.map(({ name }) => name)
  if (id === undefined) mistakes.push(`child: \`${idMember}\` is no input.${suggestion(idMember, names)}`)
  else if (id.field.nullable) mistakes.push(`child: \`${idMember}\` may not be null.`)
  else if (key !== undefined && key.field.type !== id.field.type) {
    mistakes.push(
      `child: \`${idMember}\` is ${id.field.type}, but the id of \`${children.name}\` is ${key.field.type}.`
    )
  }
  const wanted = idMember.replace(/Id$/, 'RowVersion')
  if (!idMember.endsWith('Id') || versionMember !== wanted) {
    mistakes.push(`child: the version of \`${idMember}\` must be called \`${wanted}\`, and the id end in Id.`)
  }
  return mistakes
}
