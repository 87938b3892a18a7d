import { expect } from 'chai'
import type { ActionCall } from '../../../data-service/entity/action.js'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { reject } from '../../../data-service/entity/action.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, optional, readOnly, text } from '../../../data-service/entity/fields/words.js'

const lamps = defineEntity({
  name: 'lamps',
  description: 'Lamps.',
  fields: { id: readOnly(int()), name: text(20), status: readOnly(text(20)), at: readOnly(optional(text(30))) },
  label: 'name',
  filterable: ['id'],
  sortable: ['id'],
  access: { read: everyone, write: permission('lamps:manage') },
  actions: (action) => ({
    light: action({ description: 'Lights it.', when: { status: ['dark'] }, becomes: { status: 'lit' } }),
    dim: action({
      description: 'Dims it.',
      becomes: { status: 'dim' },
      effect: ({ now }) => ({ set: { at: now } })
    }),
    shake: action({
      description: 'Shakes it, which may break it.',
      becomes: { status: ['lit', 'broken'] },
      change: ({ root: { name } }) => (name === '' ? {} : { set: { status: name } })
    }),
    mend: action({
      description: 'Mends it.',
      becomes: { status: 'dark' },
      change: ({ root: { name } }) => (name === 'gone' ? reject.state('The lamp is gone.') : { set: { at: null } })
    })
  })
})

const call = (name: string): ActionCall => ({ root: { name }, now: 'now' }) as unknown as ActionCall

/** What the action does to a row with this name. */
async function outcomeOf(action: string, name = ''): Promise<unknown> {
  const found = lamps.actions.get(action)
  if (found === undefined) throw new Error(`There is no ${action}`)
  return found.change === undefined ? found.effect(call(name)) : await found.change(call(name))
}

describe('the state that an action leaves a row in', () => {
  it('is set without being said again, beside what the action sets', async () => {
    expect(await outcomeOf('light')).to.deep.equal({ set: { status: 'lit' } })
    expect(await outcomeOf('dim')).to.deep.equal({ set: { at: 'now', status: 'dim' } })
    expect(await outcomeOf('mend')).to.deep.equal({ set: { at: null, status: 'dark' } })
  })

  it('is not set where the action is rejected', async () => {
    expect(await outcomeOf('mend', 'gone')).to.deep.equal(reject.state('The lamp is gone.'))
  })

  it('is left to the action where there are several, and is one of them', async () => {
    expect(await outcomeOf('shake')).to.deep.equal({ set: {} })
    expect(await outcomeOf('shake', 'broken')).to.deep.equal({ set: { status: 'broken' } })
    const thrown = await outcomeOf('shake', 'dark').catch((error: unknown) => error)
    expect(thrown).to.be.instanceOf(TypeError)
    expect(String(thrown)).to.contain('`becomes` does not name')
  })
})
