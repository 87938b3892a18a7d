import { describeEveryEntity } from './every-entity.js'

describeEveryEntity('mysql')
