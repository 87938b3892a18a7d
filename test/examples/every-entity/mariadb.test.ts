import { describeEveryEntity } from '../../every-entity/every-entity.js'

describeEveryEntity('mysql')
