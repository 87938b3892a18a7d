import {
  bool,
  dateTime,
  defaultTo,
  defineEntity,
  example,
  type InputRejection,
  int,
  optional,
  permission,
  readOnly,
  reject,
  text,
  unique
} from 'uniform-rest'

export const coupons = defineEntity({
  name: 'coupons',
  description: 'Codes that take a share off the price for a while.',
  group: 'Catalogue',

  fields: {
    id: readOnly(int()),
    code: example(unique(text(64)), 'SPRING25'),
    percent: example(int({ min: 1, max: 100 }), 25),
    startsAt: dateTime(),
    /** null: it never ends by itself. */
    endsAt: optional(dateTime()),
    isActive: defaultTo(bool(), true)
  },

  label: 'code',
  filterable: ['id', 'code', 'percent', 'startsAt', 'endsAt', 'isActive'],
  sortable: ['id', 'code', 'percent', 'startsAt', 'endsAt', 'isActive'],
  searchable: ['code'],

  access: { read: permission('coupons:manage'), write: permission('coupons:manage') },
  writes: ['create', 'update', 'delete'],
  creates: { prepare: ({ input }) => backwards(input) ?? { values: {} } },
  updates: ({ input }) => backwards(input) ?? {},

  // Active and inactive in turn; the end of either moves to a later moment only.
  actions: (action) => ({
    activate: action({
      description: 'Lets the coupon be used.',
      when: { isActive: [false] },
      becomes: { isActive: true }
    }),
    deactivate: action({
      description: 'Keeps the coupon from being used, whatever its dates.',
      when: { isActive: [true] },
      becomes: { isActive: false }
    }),
    extend: action({
      description: 'Moves the end of the coupon to a later moment.',
      input: { endsAt: dateTime() },
      change({ root, input: { endsAt } }) {
        if (root.endsAt === null) return reject.state('The coupon has no end that could be extended.')
        if (endsAt <= root.endsAt)
          return reject.state(`The coupon ends at ${root.endsAt}; extend needs a later endsAt.`)
        return { set: { endsAt } }
      }
    })
  })
})

/** Rejects an end that is not after the start. Both are written alike, so that texts compare as moments. */
function backwards({ startsAt, endsAt }: { startsAt: string; endsAt: string | null }): InputRejection | undefined {
  if (endsAt === null || endsAt > startsAt) return undefined
  return reject.input('/endsAt', 'endsAt must be after startsAt.')
}
