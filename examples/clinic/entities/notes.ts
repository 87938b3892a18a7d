import { defineEntity, freeText, int, intOf, onCreate, preset, readOnly, reject } from 'uniform-rest'

export const notes = defineEntity({
  name: 'notes',
  description: 'What practitioners write down about their appointments, each for its author alone.',
  fields: {
    id: readOnly(int()),
    appointmentId: onCreate(int()),
    authorId: preset(int(), ({ caller }) => caller.owners['practitioner']),
    text: freeText(2000)
  },
  label: 'text',
  filterable: ['id', 'appointmentId'],
  sortable: ['id'],
  references: { appointment: { to: 'appointments', via: 'appointmentId' } },
  access: ({ rows }) => {
    const own = rows(({ caller, where }) => {
      const practitioner = caller.owners['practitioner'] ?? null
      return practitioner === null ? 'none' : where('authorId', 'equals', practitioner)
    })
    return { read: own, write: own }
  },
  writes: ['create', 'update', 'delete'],
  creates: {
    async prepare({ input: { appointmentId, authorId }, findByIds }) {
      const appointment = (await findByIds('appointments', [appointmentId])).get(appointmentId)
      const isOwn = appointment !== undefined && intOf(appointment, 'practitionerId') === authorId
      return isOwn ? { values: {} } : reject.input('/appointmentId', 'This is no appointment of yours.')
    }
  }
})
