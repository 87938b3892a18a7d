import { describeEveryEntity } from '../../every-entity/every-entity.js'
import { everyEntityOfTheStore } from './store.js'

describeEveryEntity({ ...everyEntityOfTheStore, databases: ['sqlite'] })
