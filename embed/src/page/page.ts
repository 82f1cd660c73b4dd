import { watchCopies } from './copy.ts'
import { watchForms } from './forms.ts'
import { startFrame } from './frame.ts'
import { readSignals, watchNavigation } from './navigate.ts'
import { watchTime } from './time-out.ts'

watchNavigation()
watchForms()
watchTime()
if (document.documentElement.dataset['shell'] === 'frame') {
  watchCopies()
  startFrame()
} else readSignals()
