import { startDataService } from '../../data-service/public/service.js'
import { library } from './library.js'

await startDataService(library)
