import { hardText } from '../hard-texts.js'
import type { SampleMaker } from '../sample-aggregate.js'
import { dateTimeOf, moment } from '../sample-values.js'
import { ownerOf } from './sample-owner.js'

/** Bookmarks of users, who are numbered as their customers are. A session of its own each keeps them apart. */
export function bookmarkMaker(userIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      userId: ownerOf(id, userIds, random),
      sessionId: id,
      note: random.chance(30) ? null : (hardText(id, 1) ?? null),
      createdAt: dateTimeOf(moment(random))
    },
    children: {}
  })
}
