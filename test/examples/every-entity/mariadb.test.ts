import { describeEveryEntity } from '../../every-entity/every-entity.js'
import { transports } from '../../harness/in-soak.js'
import { declarePart } from '../../harness/part-of-tests.js'
import { everyEntityOfTheStore } from './store.js'

declarePart(6, () => describeEveryEntity({ ...everyEntityOfTheStore, databases: ['mysql'], transports }))
