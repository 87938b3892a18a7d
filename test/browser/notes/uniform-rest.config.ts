import {
  bool,
  createTable,
  defineApplication,
  defineEntity,
  int,
  onCreate,
  ownRows,
  readOnly,
  text
} from 'uniform-rest'

/** An entity whose owner filter stands before every route, and lets none pass without the parameter. */
export default defineApplication({
  entities: [
    defineEntity({
      name: 'notes',
      description: 'What members keep for themselves.',
      fields: {
        id: readOnly(int()),
        title: text(60),
        isArchived: readOnly(bool()),
        memberId: onCreate(int())
      },
      label: 'title',
      filterable: ['id', 'title', 'memberId'],
      sortable: ['id', 'title'],
      access: {
        read: ownRows('memberId'),
        write: ownRows('memberId'),
        ownerFilter: { property: 'memberId', parameter: 'member' }
      },
      writes: ['create', 'update', 'delete'],
      creates: { prepare: () => ({ values: { isArchived: false } }) },
      actions: (action) => ({
        archive: action({
          description: 'Puts the note away.',
          when: { isArchived: [false] },
          effect: { set: { isArchived: true } }
        })
      })
    })
  ],
  ownerClaimType: 'member',
  settings: { OWNER_BYPASS_ROLE: 'Admin' },
  migrations: [
    {
      name: '001-notes',
      steps: [
        createTable('notes', (t) => ({
          columns: [
            t.int('id').primaryKey(),
            t.varchar('title', 60),
            t.boolean('is_archived'),
            t.int('member_id'),
            t.rowVersion()
          ],
          indexes: [t.index('member_id'), t.sorted('title')]
        }))
      ]
    }
  ]
})
