import type { Field, FieldType, ValueOfType, Writability } from './fields/field.js'
import type { Permission } from './fields/names.js'
import type { TokenCaller } from './row-predicate.js'

/** What the function of a preset gets. */
interface PresetCall {
  readonly caller: TokenCaller
}

/** The writability of a column whose value no update changes. */
type SetOnce<W extends Writability> = W extends 'always' ? 'onCreate' : W

/** Integers may also be bigints, as the owner claim is one. */
type PresetValue<T extends FieldType, V extends string> =
  | ValueOfType<T, V>
  | (T extends 'int' | 'long' ? bigint : never)
  | null
  | undefined

/** A claim is of no known type, so it is checked when a row is created. All else has to be of the column's type. */
type Fitting<R, T extends FieldType, V extends string> = unknown extends R
  ? unknown
  : [R] extends [PresetValue<T, V>]
    ? unknown
    : never

/**
 * A column that a create fills by its caller: `preset(guid(), ({ caller }) => caller.claims['tenant'])`. The value is a
 * claim, the subject or a constant. A request may repeat it; one that names another value is rejected, and so is a caller
 * for whom there is none (null, undefined, or a claim that the column does not take): 403 `ownership.denied`. Updates keep
 * what is stored.
 */
export const preset = <
  T extends FieldType,
  H extends boolean,
  N extends boolean,
  W extends Exclude<Writability, 'generated'>,
  P extends Permission | undefined,
  V extends string,
  R
>(
  of: Field<T, H, N, W, P, V>,
  value: (call: PresetCall) => R & Fitting<R, T, NoInfer<V>>
): Field<T, H, N, SetOnce<W>, P, V> => {
  // Without its function the column would be one that every request sets.
  if (typeof value !== 'function')
    throw new TypeError('preset(…) takes a function of the caller as its second argument.')
  return { ...of, preset: value, writability: setOnce(of.writability) }
}

function setOnce<W extends Writability>(writability: W): SetOnce<W> {
  // The compiler does not follow the condition of the type.
  return (writability === 'always' ? 'onCreate' : writability) as SetOnce<W>
}

/** What the preset of a field answers for a caller, of no known type. */
export function presetFor({ preset: value }: Field, caller: TokenCaller): unknown {
  // Only the word above makes one.
  return (value as ((call: PresetCall) => unknown) | undefined)?.({ caller })
}
