import type { ReadAccess, WriteAccess } from '../access.js'
import type { Entity } from '../entity.js'
import { CAMEL_CASE, suggestion } from '../fields/names.js'

/** Kinds of owners that an entity names and the application does not. */
export function ownerKindMistakes({ access, customReads, writeAccess }: Entity, owners: readonly string[]): string[] {
  const ofReads = [...Object.values(access), ...Array.from(customReads.values(), (read) => read.access)]
  const every = [...ofReads, ...writeAccess.values()]
  // An entity file that bypasses its types may lack an access.
  return [...new Set(every.flatMap((one) => (one === undefined ? [] : kindsIn(one))))]
    .filter((kind) => !owners.includes(kind))
    .map((kind) => `\`owners\` of the config names no owner \`${kind}\`.${suggestion(kind, owners)}`)
}

function kindsIn(access: ReadAccess | WriteAccess): string[] {
  if (access.kind === 'anyOf' || access.kind === 'allOf') return access.parts.flatMap(kindsIn)
  return access.kind === 'ownRows' && access.owner !== undefined ? [access.owner] : []
}

/** Mistakes in `owners` of the application. */
export function ownersMistakes(owners: Readonly<Record<string, string>>): string[] {
  const claims = Object.values(owners)
  return Object.entries(owners).flatMap(([kind, claim]) => [
    ...(CAMEL_CASE.test(kind) && !(kind in {}) ? [] : [`owners: \`${kind}\` must be camelCase such as \`patient\`.`]),
    ...(claim === '' ? [`owners: \`${kind}\` needs the name of a claim, such as \`patient_id\`.`] : []),
    ...(claims.indexOf(claim) === claims.lastIndexOf(claim)
      ? []
      : [`owners: \`${kind}\` shares the claim ${claim} with another owner.`])
  ])
}
