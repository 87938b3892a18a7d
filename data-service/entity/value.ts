/**
 * A column's value as the rest of the service sees it, alike for every database: string as text; bool as boolean; int
 * as number; long and decimal as exact digits in a string (decimal with its column's scale); dateTime as
 * `2026-01-31T08:00:00.000Z`; guid as lower-case text; byte arrays as Buffer. It is also the value's form on the wire,
 * where only byte arrays change, into base64.
 */
export type Value = string | number | boolean | Buffer | null

/** A filter operand or an id: as Value, never null, never bytes. */
export type Operand = string | number | boolean
