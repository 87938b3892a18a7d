import {
  anyOf,
  date,
  defineEntity,
  described,
  int,
  onCreate,
  optional,
  ownRows,
  readOnly,
  reject,
  text,
  writableBy
} from 'uniform-rest'

const ofBoth = anyOf(ownRows('patientId', { owner: 'patient' }), ownRows('practitionerId', { owner: 'practitioner' }))

export const appointments = defineEntity({
  name: 'appointments',
  description: 'Half hours of practitioners, each for one patient.',
  fields: {
    id: readOnly(int()),
    patientId: onCreate(int()),
    practitionerId: onCreate(int()),
    day: date(),
    slot: described('The half hour of the day: 1 begins at 8:00.', int({ min: 1, max: 20 })),
    reason: text(200),
    room: writableBy('rooms:assign', optional(text(20)))
  },
  label: 'reason',
  filterable: ['id', 'patientId', 'practitionerId', 'day', 'slot'],
  sortable: ['id', 'day'],
  access: { read: ofBoth, write: ofBoth },
  writes: ['create', 'update', 'delete'],
  updates: ({ root, input, caller: { owners }, now }) =>
    keptForDesk(root, owners['patient'], now) ?? keptForDesk({ ...root, ...input }, owners['patient'], now) ?? {},
  deletes: { rule: ({ root, caller, now }) => keptForDesk(root, caller.owners['patient'], now) ?? {} }
})

function keptForDesk(
  { patientId, day }: { readonly patientId: number; readonly day: string },
  patient: bigint | null | undefined,
  now: string
) {
  return patient === BigInt(patientId) && day <= now.slice(0, 10)
    ? reject.forbidden('On the day itself the desk changes appointments for patients.')
    : undefined
}
