import os
import requests

session = requests.Session()
session.headers['Authorization'] = f"Bearer {os.environ['__VARIABLE__']}"
url = __URL__
while url:
    page = session.get(url, timeout=10)
    page.raise_for_status()
    print(page.json())
    url = page.links.get('next', {}).get('url')
    url = url and requests.compat.urljoin(page.url, url)
