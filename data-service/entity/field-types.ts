import type { Field, FieldType, ValueOfType, Writability } from './field.js'
import type { StoreName } from './column.js'

/** What the fields of an entity file tell the compiler. */
export type Fields = Readonly<Record<string, Field>> & { readonly id: Field<'int' | 'long' | 'guid', false> }

export type VisibleName<F> = { [K in keyof F]: F[K] extends { hidden: true } ? never : K }[keyof F] & string
export type NameOfType<F, T extends FieldType> = {
  [K in keyof F]: F[K] extends Field<T, false> ? K : never
}[keyof F] &
  string
/** What may stand for a row in a list of names: always there, and read as it is written. */
export type LabelName<F> = {
  [K in keyof F]: F[K] extends Field<'string' | 'int' | 'long' | 'guid', false, false> ? K : never
}[keyof F] &
  string
export type TypeOf<F, K extends keyof F> = F[K] extends Field<infer T> ? T : never

/** A value of a column as it is inside (value.ts), null where the column may be null. */
export type ValueOf<One> =
  One extends Field<infer T, boolean, infer N> ? ValueOfType<T> | (N extends true ? null : never) : never

/** A row by property name, hidden columns included. */
export type RowOf<F> = { readonly [K in keyof F]: ValueOf<F[K]> }

/** Columns that requests may set at all, and on an update too. */
export type SetOnCreate<F> = Writable<F, 'always' | 'onCreate'>
export type SetOnUpdate<F> = Writable<F, 'always'>
/** Columns that the service alone sets; the id is the database's. */
export type SetByService<F> = Writable<F, 'never'>

type Writable<F, W extends Writability> = {
  [K in keyof F]: F[K] extends { writability: W } ? (K extends 'id' ? never : K) : never
}[keyof F]

/** Columns to change. */
export type SomeOf<F> = { readonly [K in Exclude<keyof F, 'id'>]?: ValueOf<F[K]> }

/** Columns of a new row among `Names`: those that may be null may be left out. */
export type NewRowOf<F, Names extends keyof F = Exclude<keyof F, 'id'>> = {
  readonly [K in Names as F[K] extends { nullable: true } ? never : K]: ValueOf<F[K]>
} & { readonly [K in Names as F[K] extends { nullable: true } ? K : never]?: ValueOf<F[K]> }

export interface ChildrenDefinition {
  readonly table: string
  readonly foreignKey: string
  readonly fields: Fields
  readonly store?: StoreName
}

/** Children that a write can reach: those of the second store are no part of its transaction. */
export type ChildName<C> = { [K in keyof C]: C[K] extends { store: 'second' } ? never : K }[keyof C] & string
export type ChildFields<C, K> = K extends keyof C ? (C[K] extends { fields: infer F } ? F : never) : never
