import { describeEveryEntity } from '../../every-entity/every-entity.js'
import { transports } from '../../every-entity/in-soak.js'
import { everyEntityOfTheStore } from './store.js'

describeEveryEntity({ ...everyEntityOfTheStore, databases: ['mysql'], transports })
