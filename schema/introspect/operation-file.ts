import { isComparable } from '../../data-service/entity/validation/validate-fields.js'
import type { LiveProcedure } from '../model/live-schema.js'
import { type ColumnTypes, fieldOfWord, stringLiteral, treatmentOf } from '../model/column-types.js'
import { layout, type Part } from '../migrations/migration-file.js'
import type { FieldDraft } from './entity-draft.js'
import { fieldText, fieldWords, remark } from './entity-file.js'
import { columnPropertyName, constantName, operationName } from './names.js'

// Operations that call the procedures of a database (`introspect --routines`).

export interface OperationDraft {
  readonly procedure: string
  readonly name: string
  readonly constant: string
  readonly comment: string
  readonly parameters: readonly FieldDraft[]
  /** Whether a GET can call it: it says that it changes nothing, and each parameter can be one of a query. */
  readonly isRead: boolean
}

/** Drafts for the procedures that the account may call, and a sentence for each of the others. */
export function draftOperations(
  procedures: readonly LiveProcedure[],
  types: ColumnTypes
): { readonly operations: readonly OperationDraft[]; readonly leftOut: readonly string[] } {
  const leftOut: string[] = []
  const taken = new Set<string>()
  const operations = procedures.flatMap(({ name: procedure, comment, mayCall, readsOnly, parameters }) => {
    const properties = new Set<string>()
    const drafts: FieldDraft[] = []
    const problems = mayCall ? [] : ['this account has not the right EXECUTE']
    for (const { mode, column } of parameters) {
      const treatment = treatmentOf(types, column)
      if (mode !== 'IN') problems.push(`\`${column.name}\` is ${mode}, and only IN is served`)
      else if (treatment.kind !== 'served') problems.push(`\`${column.name}\` (${column.nativeType}): ${treatment.why}`)
      else {
        const property = columnPropertyName(column.name, properties)
        drafts.push({ property, column: column.name, word: treatment.word })
      }
    }
    if (procedure.includes('`')) problems.push('its name cannot be quoted')
    if (problems.length > 0) {
      leftOut.push(`The procedure ${procedure} is left out: ${problems.join('; ')}.`)
      return []
    }
    const name = operationName(procedure, taken)
    const isRead = readsOnly && drafts.every(({ word }) => isComparable(fieldOfWord(word).type))
    const constant = constantName(`call-${name}`)
    return [{ procedure, name, constant, comment, parameters: drafts, isRead }]
  })
  return { operations, leftOut }
}

/** The text of the file of an operation; without types for an application in JavaScript it is the same. */
export function operationFile(
  { procedure, name, constant, comment, parameters, isRead }: OperationDraft,
  resources: readonly string[]
): string {
  // No operation is below a resource.
  const root = resources.includes('procedures') ? 'stored-procedures' : 'procedures'
  const said = comment.replaceAll(/\s+/g, ' ').trim()
  const from = isRead ? 'query' : 'body'
  const [given, needed] = parameters.length === 0 ? ['{}', ''] : [from, `${from}, `]
  const procedures: Part = parameters.length === 0 ? '{}' : ['{', ['parameters'], '}']
  const key = /^[A-Za-z_]\w*$/.test(procedure) ? procedure : stringLiteral(procedure)
  const call = `await callProcedure(${stringLiteral(procedure)}, ${given})`
  const members: Part[] = [
    `name: ${stringLiteral(name)}`,
    `route: '${isRead ? 'GET' : 'POST'} /${root}/${name}'`,
    `description: ${stringLiteral(said === '' ? `Calls the procedure ${procedure}.` : said)}`,
    `access: permission('${name}:call')`,
    ...(parameters.length === 0 ? [] : [`${from}: parameters`]),
    [`procedures: { ${key}: `, [procedures], ' }'],
    `async handle({ ${needed}callProcedure }) {\n    ${call}\n  }`
  ]
  const fields: Part = ['{', parameters.map(fieldText), '}', 'broken']
  const words = new Set(['defineOperation', 'permission', ...fieldWords(parameters)])
  return [
    layout(['import {', [...words].toSorted(), "} from 'uniform-rest'"], 0, -1),
    '',
    ...remark(
      `Of the procedure ${procedure}. For you to decide: (1) who may call it, by giving a role the permission. (2) What it ` +
        'answers: a database does not say what a procedure selects. If it selects rows, name their columns in order, ' +
        '`columns: { … }` beside its parameters, answer the rows, and say `answer: list({ … })` with the same fields. ' +
        (isRead
          ? '(3) It says that it only reads. As a GET it fails where it does not: then make it a POST with a `body`.'
          : '(3) Whether it only reads: then it can be a GET, with a `query` in place of the `body`.') +
        (parameters.length === 0 ? '' : ' (4) Which parameters may be null: `optional(…)`.')
    ),
    ...(parameters.length === 0 ? [] : [`const parameters = ${layout(fields, 0, 0)}`, '']),
    `export const ${constant} = defineOperation(${layout(['{', members, '}', 'broken'], 0, 0)})`,
    ''
  ].join('\n')
}

/** The file that lists the operations with the permissions that they name. */
export function operationListFile(drafts: readonly OperationDraft[], isTyped: boolean): string {
  const constants: Part = ['[', drafts.map(({ constant }) => constant), ']']
  const permissions: Part = ['[', drafts.map(({ name }) => `'${name}:call'`), ']']
  return [
    '// Written by `uniform-rest introspect --routines`, which writes it anew for as long as nobody changes it.',
    ...(isTyped ? ["import type { Permission } from 'uniform-rest'"] : []),
    ...drafts.map(({ constant, name }) => `import { ${constant} } from './${name}.js'`),
    '',
    `export const calledProcedures = ${layout(constants, 0, 32)}`,
    '',
    `export const callPermissions${isTyped ? ': Permission[]' : ''} = ${layout(permissions, 0, 46)}`,
    ''
  ].join('\n')
}
