import { describeEveryEntity } from './every-entity.js'

describeEveryEntity('sqlite')
