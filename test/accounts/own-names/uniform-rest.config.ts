import { authenticated, defineApplication, defineOperation, int, text } from 'uniform-rest'

const answer = { id: int(), name: text(60) }

/** An application of a bank, whose operations have names that the operations of accounts have too. */
export default defineApplication({
  entities: [],
  operations: [
    defineOperation({
      name: 'get-account',
      route: 'GET /bank/{id}',
      description: 'An account of the bank.',
      access: authenticated,
      path: { id: int() },
      answer,
      handle: ({ path: { id } }) => ({ id, name: 'savings' })
    }),
    defineOperation({
      name: 'disable-account',
      route: 'PUT /bank/{id}/disable',
      description: 'Closes an account of the bank.',
      access: authenticated,
      path: { id: int() },
      answer,
      handle: ({ path: { id } }) => ({ id, name: 'closed' })
    })
  ],
  roles: { Admin: ['accounts:manage'] },
  migrations: []
})
