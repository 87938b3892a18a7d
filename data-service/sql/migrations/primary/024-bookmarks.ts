import { dateTime, freeText, int, optional } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

/** Users and sessions are kept elsewhere: their ids are of no table here. */
export const createBookmarks: Migration = {
  name: '024-bookmarks',
  up: createTables(
    table('bookmarks', {
      columns: {
        id: int(),
        userId: int(),
        sessionId: int(),
        note: optional(freeText(2000)),
        createdAt: dateTime()
      },
      sorted: ['userId', 'sessionId', 'createdAt'],
      uniqueTogether: [['userId', 'sessionId']]
    })
  )
}
