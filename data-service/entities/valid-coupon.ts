import type { LookUpBy } from '../entity/action.js'
import { intOf, textOf } from '../entity/looked-up.js'
import { refuse, type Refusal } from '../entity/refuse.js'

export interface ValidCoupon {
  /** As the coupon itself writes it: a code is found in any letter case. */
  readonly code: string
  readonly percent: number
}

/** The coupon of a code. One that is switched off, not yet or no longer valid is 422; `absent` answers an unknown code. */
export async function validCoupon(
  code: string,
  { lookUpBy, now }: { readonly lookUpBy: LookUpBy; readonly now: string },
  absent: Refusal
): Promise<ValidCoupon | Refusal> {
  const coupon = await lookUpBy('coupons', 'code', code)
  if (coupon === undefined) return absent
  const { isActive, endsAt } = coupon
  if (isActive !== true) return refuse.state(`The coupon ${code} is not active.`)
  if (now < textOf(coupon, 'startsAt')) return refuse.state(`The coupon ${code} is not valid yet.`)
  if (typeof endsAt === 'string' && endsAt <= now) return refuse.state(`The coupon ${code} is no longer valid.`)
  return { code: textOf(coupon, 'code'), percent: intOf(coupon, 'percent') ?? 0 }
}
