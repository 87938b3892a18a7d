import { anonymous } from '../../../data-service/entity/caller.js'
import { everyone, ownRows, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import {
  bool,
  dateTime,
  decimal,
  guid,
  hidden,
  int,
  long,
  optional,
  readOnly,
  text
} from '../../../data-service/entity/fields/words.js'
import { makeCatalogue, type Resource } from '../../../data-service/plan/model/catalogue.js'

const makers = defineEntity({
  name: 'makers',
  description: 'Who makes things; a maker reads itself.',
  fields: { id: readOnly(int()), name: text(100), secret: hidden(text(10)) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  access: {
    read: permission('products:manage'),
    reads: { get: ownRows('id') },
    ownerFilter: { property: 'id', on: ['get'] }
  }
})

const things = defineEntity({
  name: 'things',
  description: 'One column of every type.',
  fields: {
    id: readOnly(int()),
    title: text(100),
    makerId: optional(int()),
    price: decimal(6, 2),
    serial: optional(long()),
    sold: bool(),
    madeAt: dateTime(),
    code: optional(guid()),
    secret: hidden(text(10))
  },
  computed: { banner: { type: 'string', from: ['title'], value: (title) => `** ${String(title)}` } },
  joined: { makerName: { through: 'maker', property: 'name', field: optional(text(100)) } },
  label: 'title',
  filterable: ['id', 'title', 'price', 'serial', 'sold', 'madeAt', 'code', 'makerName'],
  operators: { serial: ['equals'] },
  sortable: ['id', 'title', 'makerName'],
  references: { maker: { to: 'makers', via: 'makerId' } },
  children: {
    parts: { table: 'thing_parts', foreignKey: 'thingId', fields: { id: readOnly(int()), weight: decimal(4, 1) } }
  },
  access: { read: everyone }
})

const tickets = defineEntity({
  name: 'tickets',
  description: 'Rows with owners.',
  fields: { id: readOnly(int()), label: text(10), ownerId: int() },
  label: 'label',
  filterable: ['id'],
  sortable: ['id'],
  access: { read: ownRows('ownerId') }
})

export const exampleEntities = [makers, things, tickets]
export const exampleCatalogue = makeCatalogue(exampleEntities)
export const resource = (name: string): Resource => exampleCatalogue.resource(name, anonymous)
