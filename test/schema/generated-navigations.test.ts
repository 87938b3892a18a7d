import { expect } from 'chai'
import { schemaAfter } from '../../schema/migrations/migration.js'
import { castings, influences, mentions, persons, plays, rehearsals } from '../library/plays.js'
import { eachDatabase } from '../stack/databases.js'
import { type GeneratedHistory, generatedHistory } from './generated-history.js'

const ALL = [plays, castings, persons, rehearsals, mentions, influences]

eachDatabase((kind) => {
  describe(`generated migrations of navigations on ${kind}`, () => {
    let history: GeneratedHistory

    before(async () => {
      history = await generatedHistory(kind)
      await history.advance(ALL)
    })
    after(() => history.dispose())

    const foreignKeys = async (table: string): Promise<string[]> => {
      const found = schemaAfter(await history.all()).get(table)?.foreignKeys ?? []
      return found.map(({ columns, to, onDelete }) => `${columns.join()} ${to} ${onDelete}`).toSorted()
    }

    it('make the tables of children of children, whose rows go with what they belong to', async () => {
      expect(await foreignKeys('act')).to.deep.equal(['play_id play cascade'])
      expect(await foreignKeys('scene')).to.deep.equal(['act_id act cascade'])
      expect(await foreignKeys('prop')).to.deep.equal(['act_id,scene_number scene cascade'])
    })

    it('keep a root from being deleted while it has children with writes of their own', async () => {
      expect(await foreignKeys('casting')).to.deep.equal(['person_id person restrict', 'play_id play restrict'])
      expect(await foreignKeys('rehearsal')).to.deep.equal(['play_id play cascade'])
    })

    it('make the indexes by which links are found, and nothing the next time', async () => {
      const indexes = schemaAfter(await history.all()).get('influence')?.indexes ?? []
      expect(indexes.map(({ keys }) => keys[0]?.column)).to.include('later_id')
      expect((await history.differenceOf(ALL)).steps).to.deep.equal([])
    })
  })
})
