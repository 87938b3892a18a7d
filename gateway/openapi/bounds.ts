import type { Property } from '../data-calls.js'

type Bounded = Pick<Property, 'minimum' | 'maximum'>

/** `from 1 to 1000`, `at least 0`, `at most 9`; empty where the type alone bounds the number. */
export function boundsInWords({ minimum, maximum }: Bounded): string {
  if (minimum !== '' && maximum !== '') return `from ${minimum} to ${maximum}`
  if (minimum !== '') return `at least ${minimum}`
  return maximum === '' ? '' : `at most ${maximum}`
}

/** The bounds as keywords, which judge JSON numbers alone. */
export function boundKeywords({ minimum, maximum }: Bounded): { readonly minimum?: number; readonly maximum?: number } {
  return {
    ...(minimum === '' ? {} : { minimum: Number(minimum) }),
    ...(maximum === '' ? {} : { maximum: Number(maximum) })
  }
}

/** The sign of a pattern of digits: none where the least value has none. */
export function signPattern({ minimum }: Bounded): string {
  return minimum === '' || minimum.startsWith('-') ? '-?' : ''
}
