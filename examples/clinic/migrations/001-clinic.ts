import { createTable, type Migration } from 'uniform-rest'

export const migration: Migration = {
  name: '001-clinic',
  steps: [
    createTable('appointments', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('patient_id'),
        t.int('practitioner_id'),
        t.date('day'),
        t.int('slot'),
        t.varchar('reason', 200),
        t.varchar('room', 20).nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('day'), t.index('patient_id'), t.unique('practitioner_id', 'day', 'slot')]
    })),
    createTable('notes', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('appointment_id'),
        t.int('author_id'),
        t.varchar('text', 2000),
        t.rowVersion()
      ],
      indexes: [t.index('appointment_id'), t.index('author_id')],
      foreignKeys: [{ column: 'appointment_id', references: 'appointments.id', onDelete: 'restrict' }]
    }))
  ]
}
