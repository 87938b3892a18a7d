import { describeEveryEntity } from '../../every-entity/every-entity.js'
import { transports } from '../../harness/in-soak.js'
import { everyEntityOfTheStore } from './store.js'

describeEveryEntity({ ...everyEntityOfTheStore, databases: ['mysql'], transports })
