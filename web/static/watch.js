export async function showWatch(view) { view.textContent = 'coming'; }
