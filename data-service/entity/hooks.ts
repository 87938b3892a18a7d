import type { RuleTools, Change, IdOf, NamedValues, Rejection } from './action.js'
import type { EventType, JsonObject } from './event.js'
import type { Operand } from './fields/field.js'
import type { RowOf } from './fields/rows.js'

/**
 * A hook of an entity file as the service works with it. It runs within the transaction of a write, after the statements
 * that write the row and after everything that the rules of the entity file answered, and before the COMMIT.
 */
export type Hook = BeforeCommitHook | EmitHook

interface HookParts {
  /** Names of writes and actions, or every write of a row. */
  readonly on: readonly string[] | 'any'
  /** Whether the row is read before it is written, where no rule does that anyway. */
  readonly readBefore: boolean
}

export interface BeforeCommitHook extends HookParts {
  readonly kind: 'beforeCommit'
  readonly run: (call: HookCall) => HookOutcome | undefined | Promise<HookOutcome | undefined>
}

export interface EmitHook extends HookParts {
  readonly kind: 'emit'
  readonly event: EventType
  readonly payload: (call: HookCall) => JsonObject | undefined | Promise<JsonObject | undefined>
}

/** What a hook answers: rows of other roots to create and to change with the write, or why nothing is written. */
type HookOutcome = Pick<Change, 'create' | 'update'> | Rejection

/** What happened to a row. */
export interface HookCall extends RuleTools {
  readonly operation: 'create' | 'update' | 'delete' | 'action'
  /** The name of the action; undefined for every other operation. */
  readonly action: string | undefined
  readonly id: Operand
  /** undefined for a create, and where nobody has read the row. */
  readonly before: NamedValues | undefined
  /** The row as it is stored now, hidden columns included; undefined for a delete. */
  readonly after: NamedValues | undefined
  /**
   * `request`: the write that the caller asked for; `batch`: one row of a batch; `rule`: a row that a rule or a hook of
   * another write creates or changes.
   */
  readonly via: 'request' | 'batch' | 'rule'
  readonly requestId: string
}

/** The hooks of one entity. */
export interface Hooks {
  /** In the order of the entity file. */
  readonly all: readonly Hook[]
  /** Those of each write: `create`, `update`, `delete` or the name of an action. A write without hooks has no entry. */
  readonly byWrite: ReadonlyMap<string, HooksOfWrite>
}

interface HooksOfWrite {
  readonly readBefore: boolean
  readonly hooks: readonly Hook[]
}

/** Made once for each entity, so that a write without hooks costs a look into a map. */
export function compileHooks(all: readonly Hook[], writes: readonly string[]): Hooks {
  const byWrite = new Map<string, HooksOfWrite>()
  for (const write of writes) {
    const hooks = all.filter(({ on }) => on === 'any' || on.includes(write))
    if (hooks.length > 0) byWrite.set(write, { readBefore: hooks.some((one) => one.readBefore), hooks })
  }
  return { all, byWrite }
}

type Tools = Omit<HookCall, 'operation' | 'action' | 'id' | 'before' | 'after'>

/** The row before the write. Without `readBefore` it is there only where a rule has read it. */
type RowBefore<F, Read> = Read extends true ? RowOf<F> : RowOf<F> | undefined

interface CreateCall<F> extends Tools {
  readonly operation: 'create'
  readonly id: IdOf<F>
  readonly before: undefined
  readonly after: RowOf<F>
}

interface UpdateCall<F, Read> extends Tools {
  readonly operation: 'update'
  readonly id: IdOf<F>
  readonly before: RowBefore<F, Read>
  readonly after: RowOf<F>
}

interface DeleteCall<F, Read> extends Tools {
  readonly operation: 'delete'
  readonly id: IdOf<F>
  readonly before: RowBefore<F, Read>
  readonly after: undefined
}

interface ActCall<F, Read, Name> extends Tools {
  readonly operation: 'action'
  readonly action: Name
  readonly id: IdOf<F>
  readonly before: RowBefore<F, Read>
  readonly after: RowOf<F>
}

type AnyCall<F, Read> = CreateCall<F> | UpdateCall<F, Read> | DeleteCall<F, Read> | ActCall<F, Read, string>

/** The call of a hook on the writes `On`. A name that is no write of its own is an action. */
type CallOf<F, On extends string, Read> = string extends On
  ? AnyCall<F, Read>
  : On extends 'create'
    ? CreateCall<F>
    : On extends 'update'
      ? UpdateCall<F, Read>
      : On extends 'delete'
        ? DeleteCall<F, Read>
        : ActCall<F, Read, On>

interface HookDefinition<On extends string, Read extends boolean> {
  /** `['create', 'update', 'delete', 'pay']`: writes and actions by name; `'any'` is every write of a row. */
  readonly on: readonly On[] | 'any'
  /** Reads and locks the row before it is written. Without it `before` is there only where a rule reads the row anyway. */
  readonly readBefore?: Read
}

/**
 * The words that `hooks: ({ beforeCommit, emit }) => […]` of an entity file gets. They are arguments and no imports because
 * the compiler knows the fields of the entity only there.
 */
export interface HookWords<F> {
  /**
   * Runs before the COMMIT of each such write of a row, whichever request or rule writes it. It may reject the write, which
   * rolls everything back, or create and change other rows with it.
   */
  readonly beforeCommit: <const On extends string, const Read extends boolean = false>(
    definition: HookDefinition<On, Read> & {
      readonly run: (call: CallOf<F, On, Read>) => HookOutcome | undefined | Promise<HookOutcome | undefined>
    }
  ) => UntypedHook
  /**
   * Puts an event into the outbox with each such write of a row: the event is committed if and only if the write is. A
   * payload of undefined means that there is no event this time.
   */
  readonly emit: <P extends JsonObject, const On extends string, const Read extends boolean = false>(
    event: EventType<P>,
    definition: HookDefinition<On, Read> & {
      readonly payload: (call: CallOf<F, On, Read>) => NoInfer<P> | undefined | Promise<NoInfer<P> | undefined>
    }
  ) => UntypedHook
}

declare const hooked: unique symbol

/** A hook of an entity file without the types of its rows. */
export interface UntypedHook {
  readonly [hooked]: true
}

/** The hooks of an entity file, in its order. */
export function resolveHooks(
  definitions: ((words: HookWords<object>) => readonly UntypedHook[]) | undefined,
  mistakes: string[]
): Hook[] {
  // The types of the definitions hold: operations/writes/effects.ts calls them with the rows that the names stand for.
  const typed = (hook: object): UntypedHook => hook as UntypedHook
  const words: HookWords<object> = {
    beforeCommit: (definition) => typed({ readBefore: false, ...definition, kind: 'beforeCommit' }),
    emit: (event, definition) => typed({ readBefore: false, ...definition, kind: 'emit', event })
  }
  const hooks: unknown = definitions === undefined ? [] : definitions(words)
  if (Array.isArray(hooks)) return hooks as Hook[]
  mistakes.push('`hooks` answers no list: a body in braces needs `return`.')
  return []
}
