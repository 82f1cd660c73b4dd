/** The Spanish of each sentence, under its English; `{1}` is the first fact in it. */
export const spanish: Readonly<Record<string, string>> = {
  'Keep your reference. You need it if you call {1}.': 'Guarde su referencia. La necesitará si llama al {1}.',
  'Keep your reference for your records.': 'Guarde su referencia con sus documentos.',
  'You do not have to do anything else.': 'No tiene que hacer nada más.',
  'You do not have to do anything until then.': 'No tiene que hacer nada hasta entonces.',
  'The swap happens by itself on that day.': 'El intercambio se hace automáticamente ese día.',
  'Something is still needed from you. Ask {1} what it is.':
    'Todavía falta algo de su parte. Pregunte a {1} qué es.',
  'You are enrolled': 'Su inscripción está lista',
  'Each benefit shows when it starts.': 'Cada beneficio indica cuándo empieza.',
  'You are enrolled from {1}': 'Su inscripción empieza el {1}',
  'Your benefits start on {1}. There is no coverage before that day.':
    'Sus beneficios empiezan el {1}. Antes de ese día no hay cobertura.',
  'Your new benefit is added': 'Se agregó su beneficio nuevo',
  'These are all your benefits.': 'Estos son todos sus beneficios.',
  'Your new benefits are added': 'Se agregaron sus beneficios nuevos',
  'Your new benefit is added and starts on {1}': 'Se agregó su beneficio nuevo, que empieza el {1}',
  'There is no coverage before that day.': 'Antes de ese día no hay cobertura.',
  'Your new benefits are added and start on {1}': 'Se agregaron sus beneficios nuevos, que empiezan el {1}',
  'You moved up to {1}': 'Ya tiene el plan superior {1}',
  'Your new plan is in force.': 'Su plan nuevo está vigente.',
  'You move up to {1} on {2}': 'Pasará al plan superior {1} el {2}',
  'Nothing changes before that day.': 'Antes de ese día no cambia nada.',
  'Your plan changes by itself on that day.': 'Su plan cambia automáticamente ese día.',
  'You moved to {1}': 'Ya tiene el plan {1}',
  'Your plan has changed. These are your benefits now.': 'Su plan cambió. Estos son sus beneficios ahora.',
  'You move to {1} on {2}': 'Pasará al plan {1} el {2}',
  'Until then you keep the plan and the benefits you have now.':
    'Hasta entonces conserva el plan y los beneficios que tiene ahora.',
  'Your plan changes by itself on that day. What does not come with it ends on the day shown.':
    'Su plan cambia automáticamente ese día. Lo que no viene con él termina el día indicado.',
  'Your swap is set for {1}': 'Su intercambio queda para el {1}',
  'Until then you keep the benefits you have now.': 'Hasta entonces conserva los beneficios que tiene ahora.',
  'Your benefits have ended': 'Sus beneficios terminaron',
  'Your coverage ended today, {1}.': 'Su cobertura terminó hoy, {1}.',
  'Your enrollment is canceled': 'Su inscripción está cancelada',
  'Your benefits had not started, and they will not start.':
    'Sus beneficios no habían empezado y ya no van a empezar.',
  'Your benefits will end on {1}': 'Sus beneficios terminarán el {1}',
  'You are covered until the end of that day.': 'Tiene cobertura hasta el final de ese día.',
  'Changed your mind? Until then you can keep your benefits. {1}':
    '¿Cambió de opinión? Hasta entonces puede conservar sus beneficios. {1}',
  'For 30 days after that you can still bring them back if you qualify.':
    'Durante los 30 días siguientes todavía puede recuperarlos si cumple los requisitos.',
  'The swap or plan change that you had planned will not happen.':
    'El intercambio o cambio de plan que tenía previsto no se hará.',
  'If you change your mind and still qualify, you can bring your benefits back. The last moment is {1}. Open your benefits from {2} again.':
    'Si cambia de opinión y todavía cumple los requisitos, puede recuperar sus beneficios. El último momento es el {1}. Abra sus beneficios otra vez desde {2}.',
  'Your swap is undone': 'Deshicimos su intercambio',
  'You keep the benefits you have now.': 'Conserva los beneficios que tiene ahora.',
  'Your swap is undone, and {1} starts on {2}': 'Deshicimos su intercambio y {1} empieza el {2}',
  'Your benefits start as they were planned before.': 'Sus beneficios empiezan como estaba previsto antes.',
  'You stay on {1}': 'Se queda con {1}',
  'The change of your plan is undone.': 'Deshicimos el cambio de su plan.',
  'You start with {1} on {2}': 'Empieza con {1} el {2}',
  'The change of your plan is undone. There is no coverage before that day.':
    'Deshicimos el cambio de su plan. Antes de ese día no hay cobertura.',
  'A swap or plan change that you had planned before does not come back.':
    'El intercambio o cambio de plan que tenía previsto antes no se recupera.',
  'You keep your benefits': 'Conserva sus beneficios',
  'The cancellation is undone. Your coverage goes on without a gap.':
    'Deshicimos la cancelación. Su cobertura sigue sin interrupción.',
  'Your benefits are back': 'Recuperó sus beneficios',
  'Your plan is in force again. There was no coverage while it was canceled.':
    'Su plan está vigente otra vez. Mientras estuvo cancelado no hubo cobertura.',
  'Your benefits are back and start on {1}': 'Recuperó sus beneficios, que empiezan el {1}',
  'This could not come back: {1}.': 'Esto no se pudo recuperar: {1}.',
  'Swap a benefit': 'Intercambie un beneficio',
  'Exchange a benefit you have for another one. The new one starts on {1}.':
    'Intercambie un beneficio que tiene por otro. El nuevo empieza el {1}.',
  'Which benefit do you want to swap?': '¿Qué beneficio quiere intercambiar?',
  'Which benefit do you want to swap for {1}?': '¿Qué beneficio quiere intercambiar por “{1}”?',
  'None: add a benefit': 'Ninguno: agregar un beneficio',
  'It takes effect on {1}.': 'Se hará el {1}.',
  'Undo this swap': 'Deshacer este intercambio',
  'Swaps are closed for this month': 'Los intercambios de este mes están cerrados',
  'You can plan another swap from {1}.': 'Puede preparar otro intercambio desde el {1}.',
  'There is nothing to swap with right now.': 'Por ahora no hay ningún beneficio para intercambiar.',
  'The old one ends at the moment the new one starts.':
    'El anterior termina en el momento en que empieza el nuevo.',
  'You can change or undo a swap until {1}.': 'Puede modificar o deshacer un intercambio hasta el {1}.',
  'Your plan has room for one more.': 'Su plan tiene lugar para uno más.',
  Now: 'Ahora',
  'Open spot': 'Lugar libre',
  'What do you want instead of {1}?': '¿Qué quiere en lugar de “{1}”?',
  'Which benefit do you want to add?': '¿Qué beneficio quiere agregar?',
  'Check your swap': 'Revise su intercambio',
  'Confirm swap': 'Confirmar el intercambio',
}
