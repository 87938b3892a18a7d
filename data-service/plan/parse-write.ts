import type { Authenticated } from '../auth/caller.js'
import type { Children, Column } from '../entity/entity.js'
import type { Operand, Value } from '../entity/value.js'
import { BodyFindings } from './body-findings.js'
import type { Resource } from './catalogue.js'
import { canonicalJson, type JsonValue } from './json-value.js'
import type { OwnerTexts } from './owner-filter.js'
import { parseIdempotencyKey } from './parse-idempotency-key.js'
import { refuseUnplaced, type Planning, type Unplaced } from './planning.js'
import type { Writer } from './write-access.js'
import type { ExpectedVersions } from './write-plan.js'

/** What the texts of every keyed write have in common. */
export interface WriteTexts extends OwnerTexts {
  readonly resource: string
  readonly body: Uint8Array
  readonly idempotencyKey?: string
  readonly strict: boolean
  readonly unplaced: Unplaced | null
}

/** A write whose request is in order; whether the rows allow it is found out in its transaction. */
export interface ParsedWrite {
  readonly resource: Resource
  readonly writer: Writer
  readonly values: ReadonlyMap<Column, Value>
  readonly key: string | undefined
  /** The body by value: the same text for the same request. */
  readonly canonicalBody: string
  readonly ignored: readonly string[]
}

export interface ParsedCreate extends ParsedWrite {
  readonly children: readonly { readonly children: Children; readonly rows: readonly ReadonlyMap<Column, Value>[] }[]
  /** To be filled with the caller's owner claim. */
  readonly claimed: Column | undefined
}

export interface ParsedUpdate extends ParsedWrite {
  readonly id: Operand
  readonly expected: ExpectedVersions
}

export interface ParsedDelete {
  readonly resource: Resource
  readonly writer: Writer
  readonly id: Operand
  readonly expected: ExpectedVersions | 'unconditional'
}

/** What is judged alike in each write: parameters out of place, the key, and what the body's reader finds. */
export function readWrite<Read>(
  texts: WriteTexts,
  of: {
    readonly resource: Resource
    readonly caller: Authenticated
    readonly planning: Planning
    readonly body: JsonValue
    readonly keyRequired: boolean
  },
  read: (findings: BodyFindings) => Read & { readonly values: ReadonlyMap<Column, Value> }
): Read & ParsedWrite {
  const findings = new BodyFindings(texts.strict)
  const parts = read(findings)
  const key = parseIdempotencyKey(texts.idempotencyKey, of.keyRequired, findings.faults)
  refuseUnplaced(texts.unplaced, findings.faults)
  findings.faults.finish()
  return {
    ...parts,
    resource: of.resource,
    writer: { caller: of.caller, ownership: of.planning.ownership },
    key,
    canonicalBody: canonicalJson(of.body),
    ignored: findings.ignored
  }
}
