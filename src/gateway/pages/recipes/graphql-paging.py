import os
import requests

query = __QUERY__
headers = {'Authorization': f"Bearer {os.environ['__VARIABLE__']}"}
after = None
while True:
    body = {'query': query, 'variables': {'after': after}}
    answer = requests.post(__URL__, json=body, headers=headers, timeout=10).json()
    if 'errors' in answer or 'data' not in answer:
        raise RuntimeError(answer)
    [page] = answer['data'].values()
    print([edge['node'] for edge in page['edges']])
    if not page['pageInfo']['hasNextPage']:
        break
    after = page['pageInfo']['endCursor']
